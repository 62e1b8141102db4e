"""What is learned from a corpus alone: words, windows, factors, vectors."""
