"""``deltavec index``: collections, one file per command."""
