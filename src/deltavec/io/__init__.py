"""The outside world: corpora, word vectors, models and results in files."""
