"""The score of a collection in other stores: documents and queries as vectors."""
