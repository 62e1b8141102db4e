"""Documents as dense vectors, weighted by what is rare in your own corpus.

>>> import deltavec as dv
>>> vectors = dv.WordVectors(["sea", "room", "quiet"], [[1, 0], [0, 1], [0.5, 1]])
>>> model = dv.fit(["sea view", "quiet room", "room"], vectors, recipe="idf-sum")
>>> model.embed(["a quiet room"]).shape
(1, 2)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from deltavec.version import __version__

if TYPE_CHECKING:
    from deltavec import spark
    from deltavec.collection import Collection, build_collection, open_collection
    from deltavec.core.explain import Explanation
    from deltavec.core.model import EmbeddingModel, fit
    from deltavec.core.recipes import RECIPES, Recipe
    from deltavec.core.vectors import WordVectors
    from deltavec.errors import (
        CorpusError,
        DeltavecError,
        InputError,
        MissingDependencyError,
        ModelError,
        RecipeError,
        SmallModelWarning,
        VectorsError,
    )
    from deltavec.estimator import DocumentEmbedder
    from deltavec.evaluation.auc import pairwise_auc
    from deltavec.evaluation.tuning.tune import tune
    from deltavec.io.corpora import Corpus, read_corpus
    from deltavec.io.storage import load
    from deltavec.io.word_vectors import load_vectors, save_vectors
    from deltavec.search import Duplicates, Hits, Index, duplicates, load_index, neighbors
    from deltavec.training import train_vectors

# Where each public name lives. Resolved on first use, so that importing the package is instant.
_HOMES = {
    "Collection": "collection",
    "Corpus": "io.corpora",
    "CorpusError": "errors",
    "DeltavecError": "errors",
    "DocumentEmbedder": "estimator",
    "Duplicates": "search",
    "EmbeddingModel": "core.model",
    "Explanation": "core.explain",
    "Hits": "search",
    "Index": "search",
    "InputError": "errors",
    "MissingDependencyError": "errors",
    "ModelError": "errors",
    "RECIPES": "core.recipes",
    "Recipe": "core.recipes",
    "RecipeError": "errors",
    "SmallModelWarning": "errors",
    "VectorsError": "errors",
    "WordVectors": "core.vectors",
    "build_collection": "collection",
    "duplicates": "search",
    "fit": "core.model",
    "load": "io.storage",
    "load_index": "search",
    "load_vectors": "io.word_vectors",
    "neighbors": "search",
    "open_collection": "collection",
    "pairwise_auc": "evaluation.auc",
    "read_corpus": "io.corpora",
    "save_vectors": "io.word_vectors",
    "train_vectors": "training",
    "tune": "evaluation.tuning.tune",
}

__all__ = [
    "RECIPES",
    "Collection",
    "Corpus",
    "CorpusError",
    "DeltavecError",
    "DocumentEmbedder",
    "Duplicates",
    "EmbeddingModel",
    "Explanation",
    "Hits",
    "Index",
    "InputError",
    "MissingDependencyError",
    "ModelError",
    "Recipe",
    "RecipeError",
    "SmallModelWarning",
    "VectorsError",
    "WordVectors",
    "__version__",
    "build_collection",
    "duplicates",
    "fit",
    "load",
    "load_index",
    "load_vectors",
    "neighbors",
    "open_collection",
    "pairwise_auc",
    "read_corpus",
    "save_vectors",
    "spark",
    "train_vectors",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name == "spark":  # a module of functions, not a name in one
        return import_module("deltavec.spark")
    if name not in _HOMES:
        raise AttributeError(f"module 'deltavec' has no attribute {name!r}")
    return getattr(import_module(f"deltavec.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
