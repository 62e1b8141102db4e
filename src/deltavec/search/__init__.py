"""Find rows: exact and approximate search, duplicates, neighbours."""

from deltavec.search.hits import Hit, Hits
from deltavec.search.index import Index, load_index
from deltavec.search.near_duplicates import Duplicates, Pairs, duplicates
from deltavec.search.nearest import neighbors

__all__ = ["Duplicates", "Hit", "Hits", "Index", "Pairs", "duplicates", "load_index", "neighbors"]
