"""Word vectors in and out, in any of the usual files."""
