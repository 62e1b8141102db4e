"""Find rows and texts: exact search, near-duplicates, similar pairs, nearest neighbors."""

from deltavec.search.duplicates import DuplicatePairs, Duplicates, duplicates
from deltavec.search.index import Hit, Hits, Index
from deltavec.search.pairs import Pairs, neighbors, similar_pairs, write_similar_pairs

__all__ = [
    "DuplicatePairs",
    "Duplicates",
    "Hit",
    "Hits",
    "Index",
    "Pairs",
    "duplicates",
    "neighbors",
    "similar_pairs",
    "write_similar_pairs",
]
