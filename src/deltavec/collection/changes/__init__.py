"""Documents that come into a collection and leave it, whole at every moment."""
