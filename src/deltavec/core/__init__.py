"""The method: from words and counts to vectors; no files, no printing."""
