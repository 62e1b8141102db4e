"""What is counted of a text: words, characters and runs of them, and which to choose."""
