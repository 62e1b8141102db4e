"""Documents as dense vectors, learned from your own text or made of your word vectors.

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
    from deltavec import adapters, spark
    from deltavec.collection import Collection, build_collection, open_collection
    from deltavec.collection.analysis import Comparison, compare, keywords, label, outliers
    from deltavec.collection.export.encoder import QueryEncoder, load_query_encoder
    from deltavec.collection.topics.table import topics
    from deltavec.core.explain import Explanation
    from deltavec.core.model import EmbeddingModel
    from deltavec.core.recipes import RECIPES, Recipe
    from deltavec.core.vectors import WordVectors
    from deltavec.errors import (
        CacheWarning,
        CorpusError,
        DeltavecError,
        InputError,
        LockWarning,
        LowCoverageWarning,
        MissingDependencyError,
        ModelError,
        OtherTokenizerWarning,
        RecipeError,
        SmallModelWarning,
        VectorsError,
    )
    from deltavec.estimator import DocumentEmbedder
    from deltavec.evaluation.auc import pairwise_auc
    from deltavec.io.artifacts.model import load
    from deltavec.io.corpus.corpus import Corpus, read_corpus
    from deltavec.io.vectors.load import load_vectors, save_vectors
    from deltavec.lab.tuning.tune import tune
    from deltavec.search import (
        Duplicates,
        Hits,
        Index,
        duplicates,
        neighbors,
        similar_pairs,
        write_similar_pairs,
    )
    from deltavec.training import fit, train_vectors

# The public names by where they live. Resolved on first use, so that importing the package is
# instant.
_NAMES = {
    "collection": "Collection build_collection open_collection",
    "collection.analysis": "Comparison compare keywords label outliers",
    "collection.export.encoder": "QueryEncoder load_query_encoder",
    "collection.topics.table": "topics",
    "core.explain": "Explanation",
    "core.model": "EmbeddingModel",
    "core.recipes": "RECIPES Recipe",
    "core.vectors": "WordVectors",
    "errors": "CacheWarning CorpusError DeltavecError InputError LockWarning LowCoverageWarning "
    "MissingDependencyError ModelError OtherTokenizerWarning RecipeError SmallModelWarning "
    "VectorsError",
    "estimator": "DocumentEmbedder",
    "evaluation.auc": "pairwise_auc",
    "io.corpus.corpus": "Corpus read_corpus",
    "io.artifacts.model": "load",
    "io.vectors.load": "load_vectors save_vectors",
    "search": "Duplicates Hits Index duplicates neighbors similar_pairs write_similar_pairs",
    "training": "fit train_vectors",
    "lab.tuning.tune": "tune",
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [
    "RECIPES",
    "CacheWarning",
    "Collection",
    "Comparison",
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
    "LockWarning",
    "LowCoverageWarning",
    "MissingDependencyError",
    "ModelError",
    "OtherTokenizerWarning",
    "QueryEncoder",
    "Recipe",
    "RecipeError",
    "SmallModelWarning",
    "VectorsError",
    "WordVectors",
    "__version__",
    "adapters",
    "build_collection",
    "compare",
    "duplicates",
    "fit",
    "keywords",
    "label",
    "load",
    "load_query_encoder",
    "load_vectors",
    "neighbors",
    "open_collection",
    "outliers",
    "pairwise_auc",
    "read_corpus",
    "save_vectors",
    "similar_pairs",
    "spark",
    "topics",
    "train_vectors",
    "tune",
    "write_similar_pairs",
]


def __getattr__(name: str) -> Any:
    if name in ("adapters", "spark"):  # modules, not names in one
        return import_module(f"deltavec.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'deltavec' has no attribute {name!r}")
    return getattr(import_module(f"deltavec.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
