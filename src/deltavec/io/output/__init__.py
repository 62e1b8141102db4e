"""Document vectors out, in pieces that survive a kill."""
