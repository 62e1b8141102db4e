"""Exact top-k of the hybrid score: BM25 plus cosine similarity."""
