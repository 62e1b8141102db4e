"""A model as LangChain's ``Embeddings``."""

from __future__ import annotations

from deltavec.adapters import Model, as_lists, as_model
from deltavec.errors import needing

with needing("langchain", "deltavec.adapters.LangChainEmbeddings needs langchain-core"):
    from langchain_core.embeddings import Embeddings


class LangChainEmbeddings(Embeddings):
    """The vectors of a model, for the stores and retrievers of LangChain.

    Parameters
    ----------
    model
        What `deltavec.fit` or `deltavec.load` gave, or the folder of a model. For documents that
        are compared with each other: ``model.for_collection(documents)``.
    """

    def __init__(self, model: Model) -> None:
        self.model = as_model(model)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The texts' vectors, in their order."""
        return as_lists(self.model, texts)

    def embed_query(self, text: str) -> list[float]:
        """The vector of a query: as that of a document."""
        return as_lists(self.model, [text])[0]
