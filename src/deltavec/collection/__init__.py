"""Collections: documents on disk with their vectors, to build, update, search and explain."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from deltavec.collection.answers import Hit, Keyword
    from deltavec.collection.build import build_collection
    from deltavec.collection.collection import Collection
    from deltavec.collection.open import open_collection
    from deltavec.collection.topics.clusters import Clusters

# Resolved on first use: opening a collection does not load what builds one.
_HOMES = {
    "Clusters": "topics.clusters",
    "Collection": "collection",
    "Hit": "answers",
    "Keyword": "answers",
    "build_collection": "build",
    "open_collection": "open",
}

__all__ = ["Clusters", "Collection", "Hit", "Keyword", "build_collection", "open_collection"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'deltavec.collection' has no attribute {name!r}")
    return getattr(import_module(f"deltavec.collection.{_HOMES[name]}"), name)
