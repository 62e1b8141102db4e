"""What is found in a collection: documents, and the words they are about."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Found(NamedTuple):
    """A document that was found.

    Attributes
    ----------
    id : str
        What it is called.
    score : float
        How well it fits what was asked for: by meaning the cosine, by words or both a sum that
        only compares documents found for the same query.
    text : str
        Its text.
    columns : dict
        The columns kept beside it.
    """

    id: str
    score: float
    text: str
    columns: dict[str, Any]


class Nearest(NamedTuple):
    """The rows that fit best, best first, and their scores."""

    rows: npt.NDArray[np.int64]
    scores: npt.NDArray[np.floating]


class Keyword(NamedTuple):
    """A word of a document, and its share of the document's own direction."""

    word: str
    share: float
