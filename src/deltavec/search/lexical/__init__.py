"""The inverted index: postings and BM25."""
