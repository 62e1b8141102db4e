"""The map of a collection: where its documents stand, and the names of regions."""
