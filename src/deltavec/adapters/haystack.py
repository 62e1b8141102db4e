"""A model as components of Haystack: one for queries, one for documents."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from deltavec.adapters import Model, as_lists, as_model
from deltavec.core.model import EmbeddingModel
from deltavec.errors import InputError, needing

with needing("haystack", "deltavec.adapters.HaystackTextEmbedder needs haystack-ai"):
    from haystack import Document, component, default_to_dict


def folder_of(model: Model) -> str:
    """The folder of a model, as a pipeline in a file names it."""
    if isinstance(model, EmbeddingModel):
        raise InputError(
            "a pipeline in a file names the folder of its model: save the model, and make the "
            "component with that folder"
        )
    return fspath(model) if isinstance(model, PathLike) else model


@component
class HaystackTextEmbedder:
    """The vector of a query, in a pipeline of Haystack.

    Parameters
    ----------
    model
        What `deltavec.fit` or `deltavec.load` gave, or the folder of a model: only with the latter
        can the pipeline be written to a file.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._embedding = as_model(model)

    def to_dict(self) -> dict[str, Any]:
        """What a file says of the component."""
        written: dict[str, Any] = default_to_dict(self, model=folder_of(self.model))
        return written

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        """The vector of a text, as ``embedding``."""
        if not isinstance(text, str):
            raise TypeError(
                f"expected a string, got {type(text).__name__}: for documents use "
                "HaystackDocumentEmbedder"
            )
        return {"embedding": as_lists(self._embedding, [text])[0]}


@component
class HaystackDocumentEmbedder:
    """Documents with their vectors, in a pipeline of Haystack.

    Parameters
    ----------
    model
        As for `HaystackTextEmbedder`; for documents that are compared with each other
        ``model.for_collection(texts)``, for both components.
    meta_fields_to_embed
        Fields of the documents' ``meta`` whose text goes before the content, a line each.
    """

    def __init__(self, model: Model, meta_fields_to_embed: list[str] | None = None) -> None:
        self.model = model
        self.meta_fields_to_embed = meta_fields_to_embed or []
        self._embedding = as_model(model)

    def to_dict(self) -> dict[str, Any]:
        """What a file says of the component."""
        written: dict[str, Any] = default_to_dict(
            self,
            model=folder_of(self.model),
            meta_fields_to_embed=self.meta_fields_to_embed,
        )
        return written

    @component.output_types(documents=list[Document])
    def run(self, documents: list[Document]) -> dict[str, Any]:
        """The documents, each with its ``embedding``; those passed in stay as they are."""
        vectors = as_lists(self._embedding, [self._text(document) for document in documents])
        return {
            "documents": [
                replace(document, embedding=vector)
                for document, vector in zip(documents, vectors, strict=True)
            ]
        }

    def _text(self, document: Document) -> str:
        fields = [document.meta.get(name) for name in self.meta_fields_to_embed]
        shown = [str(field) for field in fields if field is not None]
        return "\n".join([*shown, document.content or ""])
