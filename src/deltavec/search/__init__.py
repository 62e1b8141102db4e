"""Find rows and texts: exact search, near-duplicates, similar pairs, nearest neighbors."""

from deltavec.search.duplicates import DuplicatePairs, Duplicates, duplicates
from deltavec.search.hits import Hit, Hits
from deltavec.search.index import Index
from deltavec.search.neighbors import neighbors
from deltavec.search.similar import Pairs, similar_pairs, write_similar_pairs

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
