"""Models as the embedders of other libraries: small classes, each with an extra of its own.

=========================  ===========================================  ==================
name                       is                                           extra
=========================  ===========================================  ==================
LangChainEmbeddings        ``langchain_core.embeddings.Embeddings``     ``langchain``
LlamaIndexEmbedding        ``llama_index.core``'s ``BaseEmbedding``     ``llama-index``
HaystackTextEmbedder       a component of Haystack, for queries         ``haystack``
HaystackDocumentEmbedder   a component of Haystack, for documents       ``haystack``
=========================  ===========================================  ==================
"""

from __future__ import annotations

from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from deltavec.core.model import EmbeddingModel
from deltavec.io.artifacts.model import load

if TYPE_CHECKING:
    from deltavec.adapters.haystack import HaystackDocumentEmbedder as HaystackDocumentEmbedder
    from deltavec.adapters.haystack import HaystackTextEmbedder as HaystackTextEmbedder
    from deltavec.adapters.langchain import LangChainEmbeddings as LangChainEmbeddings
    from deltavec.adapters.llama_index import LlamaIndexEmbedding as LlamaIndexEmbedding

Model: TypeAlias = EmbeddingModel | str | PathLike[str]


def as_model(model: Model) -> EmbeddingModel:
    """The model itself, or the one in a folder."""
    return model if isinstance(model, EmbeddingModel) else load(model)


def as_lists(model: EmbeddingModel, texts: list[str]) -> list[list[float]]:
    """The vectors of texts, as lists of numbers: as vector stores take them."""
    lists: list[list[float]] = model.embed(texts).tolist()
    return lists


# Imported on first use, so that the other libraries need not be installed.
_HOMES = {
    "HaystackDocumentEmbedder": "haystack",
    "HaystackTextEmbedder": "haystack",
    "LangChainEmbeddings": "langchain",
    "LlamaIndexEmbedding": "llama_index",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'deltavec.adapters' has no attribute {name!r}")
    return getattr(import_module(f"deltavec.adapters.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
