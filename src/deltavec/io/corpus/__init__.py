"""Documents in: files, streams and memory, as one kind of corpus."""
