"""Documents on disk with their vectors: built, added to, searched and explained."""

from deltavec.collection.building import build_collection
from deltavec.collection.collection import Collection
from deltavec.collection.hits import Found, Keyword
from deltavec.collection.opening import open_collection
from deltavec.collection.topics.clusters import Clusters

__all__ = ["Clusters", "Collection", "Found", "Keyword", "build_collection", "open_collection"]
