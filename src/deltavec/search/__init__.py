"""Find rows: exact search, near-duplicates, nearest neighbors."""

from deltavec.search.duplicates import Duplicates, Pairs, duplicates
from deltavec.search.hits import Hit, Hits
from deltavec.search.index import Index, load_index
from deltavec.search.neighbors import neighbors

__all__ = ["Duplicates", "Hit", "Hits", "Index", "Pairs", "duplicates", "load_index", "neighbors"]
