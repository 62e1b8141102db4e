"""Collections: documents on disk with their vectors, to build, update, search and explain."""
