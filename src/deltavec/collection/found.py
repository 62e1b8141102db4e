"""What is found in a collection: documents, and the words they are about."""

from __future__ import annotations

from typing import Any, NamedTuple


class Found(NamedTuple):
    """A document that was found.

    Attributes
    ----------
    id : str
        What it is called.
    score : float
        Its cosine with what was asked for.
    text : str
        Its text.
    columns : dict
        The columns kept beside it.
    """

    id: str
    score: float
    text: str
    columns: dict[str, Any]


class Keyword(NamedTuple):
    """A word of a document, and its share of the document's own direction."""

    word: str
    share: float
