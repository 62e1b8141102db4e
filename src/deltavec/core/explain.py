r"""Which words make two documents alike: the cosine as a sum of one share per word.

A document is :math:`u_a = (\sum_i \alpha_i r_i - o) / |c_a|`, so its cosine with another is

.. math:: u_a \cdot u_b = \sum_i \frac{\alpha_i\, r_i \cdot u_b}{|c_a|} - \frac{o \cdot u_b}{|c_a|}
          = \sum_i \mathrm{share}_i + \mathrm{share\ of\ the\ offset},

exactly, and in the same way once more over the words of the other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.forms import FoldedVectors
from deltavec.core.kernels import ROUNDING
from deltavec.core.vocabulary import Vocabulary


class WordShare(NamedTuple):
    """A word of one document, how often it stands there, and its share of the cosine."""

    word: str
    occurrences: int
    share: float


class WordPair(NamedTuple):
    """A word of each document, and what the two add to the cosine together."""

    word_a: str
    word_b: str
    share: float


@dataclass(frozen=True)
class Explanation:
    """Why two documents are as alike as they are.

    Attributes
    ----------
    cosine : float
        The cosine of the two documents' vectors; 0 if one of them has none.
    words_a, words_b : tuple of WordShare
        The known words of each document, largest share first. The shares of one document and its
        offset add up to the cosine.
    offset_a, offset_b : float
        What taking the corpus' centre off each document adds; 0 unless the form is ``center``.
    pairs : tuple of WordPair
        The pairs of words that pull the two together, strongest first.
    unknown_a, unknown_b : tuple of str
        Words that have no vector, in their order.
    text_a, text_b : tuple of str
        All words of each document, in their order.
    """

    cosine: float
    words_a: tuple[WordShare, ...]
    words_b: tuple[WordShare, ...]
    offset_a: float
    offset_b: float
    pairs: tuple[WordPair, ...]
    unknown_a: tuple[str, ...]
    unknown_b: tuple[str, ...]
    text_a: tuple[str, ...] = field(default=(), repr=False)
    text_b: tuple[str, ...] = field(default=(), repr=False)

    def _repr_html_(self) -> str:
        """Both texts, their words shaded by share, and the strongest pairs: for notebooks."""
        from deltavec.core.explanation_html import explanation_html

        return explanation_html(self)

    def plot(self, words: int = 12) -> Any:
        """Two matplotlib axes: the shares of the strongest words of each text, as bars.

        Parameters
        ----------
        words
            How many words of each text to show.

        Raises
        ------
        MissingDependencyError
            Without matplotlib (the extra ``plots``).
        """
        from deltavec.core.explanation_plot import plotted

        return plotted(self, words)


@dataclass(frozen=True, eq=False)
class Document:
    """A document in the terms of its sum: words, what each adds, and the vector they make."""

    words: list[str]
    ids: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    weights: npt.NDArray[np.float64]  # (n_i / N - penalty_i) over the length
    terms: npt.NDArray[np.float64]  # (n_i / N - penalty_i) row_i, one a row, over the length
    offset: npt.NDArray[np.float64]  # minus the offset, over the length
    vector: npt.NDArray[np.float64]
    unknown: tuple[str, ...]
    text: tuple[str, ...]


def dissected(words: list[str], vocabulary: Vocabulary, folded: FoldedVectors) -> Document:
    """The document of these words, taken apart."""
    numbers = vocabulary.ids(words)
    unknown = tuple(dict.fromkeys(w for w, n in zip(words, numbers, strict=True) if n < 0))
    ids, counts = np.unique(numbers[numbers >= 0], return_counts=True)
    shares = counts / max(counts.sum(), 1) - folded.penalties[ids]
    terms = shares[:, None] * folded.rows[ids]
    offset = -folded.offset if len(ids) else np.zeros_like(folded.offset)
    vector = terms.sum(axis=0) + offset
    magnitude = np.abs(shares) @ folded.norms[ids] + folded.offset_norm
    length = float(np.linalg.norm(vector))
    scale = 1 / length if length > ROUNDING * magnitude else 0.0
    return Document(
        [vocabulary.word(number) for number in ids],
        ids,
        counts,
        shares * scale,
        terms * scale,
        offset * scale,
        vector * scale,
        unknown,
        tuple(words),
    )


def compared(a: Document, b: Document, pairs: int) -> Explanation:
    """Why the two documents are as alike as they are, with the strongest pairs of words."""
    return Explanation(
        cosine=float(a.vector @ b.vector),
        words_a=shares(a, b),
        words_b=shares(b, a),
        offset_a=float(a.offset @ b.vector),
        offset_b=float(b.offset @ a.vector),
        pairs=strongest_pairs(a, b, pairs),
        unknown_a=a.unknown,
        unknown_b=b.unknown,
        text_a=a.text,
        text_b=b.text,
    )


def shares(document: Document, other: Document) -> tuple[WordShare, ...]:
    """What each word of the document adds to its cosine with the other, largest first."""
    values = document.terms @ other.vector
    order = np.argsort(-values, kind="stable")
    return tuple(
        WordShare(document.words[i], int(document.counts[i]), float(values[i])) for i in order
    )


def strongest_pairs(a: Document, b: Document, count: int) -> tuple[WordPair, ...]:
    """The pairs of words that add most to the cosine."""
    together = (a.terms @ b.terms.T).ravel()
    order = np.argsort(-together, kind="stable")[:count]
    return tuple(
        WordPair(a.words[i // len(b.words)], b.words[i % len(b.words)], float(together[i]))
        for i in order
        if together[i] > 0
    )
