"""Documents as dense vectors, learned from your own text or made of your word vectors.

>>> import deltavec as dv
>>> vectors = dv.WordVectors(["sea", "room", "quiet"], [[1, 0], [0, 1], [0.5, 1]])
>>> model = dv.fit(["sea view", "quiet room", "room"], vectors, recipe="idf-sum")
>>> model.embed(["a quiet room"]).shape
(1, 2)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from deltavec.version import __version__ as __version__

# The public names by where they live. Resolved on first use, so that importing the package is
# instant; `__init__.pyi` has their types.
_NAMES = {
    "collection.build": "build_collection",
    "collection.collection": "Collection",
    "collection.open": "open_collection",
    "collection.analysis": "Comparison compare keywords label outliers",
    "collection.export.encoder": "QueryEncoder load_query_encoder",
    "collection.shards.search": "merge_statistics open_collections",
    "collection.topics.clusters": "topics",
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

__all__ = sorted([*_HOMES, "__version__", "adapters", "spark"])


def __getattr__(name: str) -> Any:
    if name in ("adapters", "spark"):  # modules, not names in one
        return import_module(f"deltavec.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'deltavec' has no attribute {name!r}")
    return getattr(import_module(f"deltavec.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
