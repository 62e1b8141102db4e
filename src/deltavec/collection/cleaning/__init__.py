"""A collection without what is there twice, or elsewhere."""
