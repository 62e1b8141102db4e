"""A model as LlamaIndex's ``BaseEmbedding``."""

from __future__ import annotations

from typing import Any

from deltavec.adapters import Model, as_lists, as_model
from deltavec.errors import needing

with needing("llama-index", "deltavec.adapters.LlamaIndexEmbedding needs llama-index-core"):
    from llama_index.core.base.embeddings.base import BaseEmbedding
    from llama_index.core.bridge.pydantic import PrivateAttr

MOST_AT_ONCE = 2048  # what LlamaIndex allows


class LlamaIndexEmbedding(BaseEmbedding):
    """The vectors of a model, for the indexes of LlamaIndex.

    Parameters
    ----------
    model
        What `deltavec.fit` or `deltavec.load` gave, or the folder of a model. For documents that
        are compared with each other: ``model.for_collection(documents)``.
    embed_batch_size
        How many texts LlamaIndex passes on at once.
    """

    _model: Any = PrivateAttr()

    def __init__(self, model: Model, *, embed_batch_size: int = MOST_AT_ONCE) -> None:
        embedding = as_model(model)
        name = f"deltavec {embedding.recipe.name} {embedding.fingerprint}"
        super().__init__(model_name=name, embed_batch_size=embed_batch_size)
        self._model = embedding

    @classmethod
    def class_name(cls) -> str:
        """What LlamaIndex calls it."""
        return "LlamaIndexEmbedding"

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return as_lists(self._model, texts)

    def _get_text_embedding(self, text: str) -> list[float]:
        return as_lists(self._model, [text])[0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return as_lists(self._model, [query])[0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)
