"""Groups of like documents: how many, which, in which levels, and what they are called."""
