"""``deltavec vectors``: word vectors."""
