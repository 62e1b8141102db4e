r"""Why two texts are as alike as they are, with what the removal of common components took away.

`deltavec.core.explain` splits the cosine into shares. This adds the pairs that push apart, and what
would have been without removal: with :math:`c` the document before it is brought to unit length,
:math:`P` the removed components and :math:`w = c + P^\top P w` the document before removal,

.. math:: \cos(w_a, w_b) = \frac{c_a \cdot c_b}{|w_a| |w_b|}
          + \frac{P w_a \cdot P w_b}{|w_a| |w_b|} = \mathrm{left} + \mathrm{taken},

and the second part splits over words as the first does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.explain import Document, WordPair, dissected
from deltavec.core.model import EmbeddingModel
from deltavec.serve.shading import Spans, spans

WORDS_AT_ONCE = 256  # of one text, against all of the other: memory stays small
TAKEN_WORDS = 8


class Read(NamedTuple):
    """A text, where its words stand, and what they add."""

    text: str
    spans: Spans
    document: Document


class Removal(NamedTuple):
    """What the removed components took away.

    Attributes
    ----------
    components : int
        How many were removed.
    before : float
        The cosine before the removal; the sum of the next two.
    left : float
        What of it the words add without the components.
    taken : float
        What of it lay along the components.
    words_a, words_b : list of (str, float)
        The words that had most of what was taken, by their share of it.
    """

    components: int
    before: float
    left: float
    taken: float
    words_a: list[tuple[str, float]]
    words_b: list[tuple[str, float]]


class Pairs(NamedTuple):
    """The pairs of words that add most to a cosine, and those that take most from it."""

    together: list[WordPair]
    apart: list[WordPair]


def read(model: EmbeddingModel, text: str) -> Read:
    """The text, taken apart."""
    found = spans(text, str(model.tokenizer))
    return Read(text, found, dissected(found.words, model.vocabulary, model.folded))


def word_shares(
    model: EmbeddingModel, words: list[str], vector: npt.NDArray[np.float64]
) -> dict[str, float]:
    """What each known word of a document adds to its cosine with a vector.

    The same as `deltavec.core.explain` says, without the parts that a list of results does not
    show: one row of products instead of a matrix.
    """
    counted = Counter(words)
    numbers = model.vocabulary.ids(list(counted))
    known = numbers >= 0
    ids = numbers[known]
    counts = np.fromiter(counted.values(), np.float64, len(counted))[known]
    weights = counts / max(counts.sum(), 1) - model.folded.penalties[ids]
    rows = model.folded.rows[ids].astype(np.float64)
    length = float(np.linalg.norm(weights @ rows - model.folded.offset))
    values = weights * (rows @ vector) / (length or 1.0)
    named = (word for word, is_known in zip(counted, known, strict=True) if is_known)
    return dict(zip(named, values.tolist(), strict=True))


def strongest_pairs(a: Document, b: Document, count: int) -> Pairs:
    """The pairs of words with the largest and the smallest products, some rows at a time."""
    found = [
        [WordPair(a.words[row], b.words[column], share) for row, column, share in extremes]
        for extremes in (extreme_products(a.terms, b.terms, count),
                         extreme_products(a.terms, -b.terms, count))
    ]  # fmt: skip
    apart = [pair._replace(share=-pair.share) for pair in found[1]]
    return Pairs(found[0], apart)


def extreme_products(
    rows: npt.NDArray[np.float64], columns: npt.NDArray[np.float64], count: int
) -> list[tuple[int, int, float]]:
    """The largest positive entries of ``rows @ columns.T``, largest first; ties by place."""
    kept: list[tuple[float, int, int]] = []
    for first, block in products(rows, columns):
        flat = block.ravel()
        some = np.argpartition(-flat, count)[:count] if len(flat) > count else np.arange(len(flat))
        places = (divmod(int(place), len(columns)) for place in some if flat[place] > 0)
        kept += [(-float(block[row, column]), first + row, column) for row, column in places]
        kept = sorted(kept)[:count]
    return [(row, column, -share) for share, row, column in kept]


def products(
    rows: npt.NDArray[np.float64], columns: npt.NDArray[np.float64]
) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
    """``rows @ columns.T``, some rows at a time, each block with the number of its first."""
    if len(columns):
        for first in range(0, len(rows), WORDS_AT_ONCE):
            yield first, rows[first : first + WORDS_AT_ONCE] @ columns.T


class Unscaled(NamedTuple):
    """A document before it is brought to unit length: its length, and what was removed of it."""

    vector: npt.NDArray[np.float64]  # without the components
    removed: npt.NDArray[np.float64]  # along the components
    removed_terms: npt.NDArray[np.float64]  # of each word, along the components

    @property
    def length(self) -> float:
        """The length before the removal."""
        return float(np.hypot(np.linalg.norm(self.vector), np.linalg.norm(self.removed)))


def unscaled(model: EmbeddingModel, document: Document) -> Unscaled:
    """The document before it is brought to unit length."""
    folded = model.folded
    ids = model.vocabulary.ids(document.words)
    weights = document.counts / max(document.counts.sum(), 1) - folded.penalties[ids]
    terms = weights[:, None] * folded.coordinates[ids]
    some = 1.0 if len(ids) else 0.0
    return Unscaled(
        weights @ folded.rows[ids] - some * folded.offset,
        terms.sum(axis=0) - some * folded.offset_coordinates,
        terms,
    )


def removal(model: EmbeddingModel, a: Document, b: Document) -> Removal | None:
    """What the removed components took away of the cosine; None if there are none."""
    components = len(model.folded.components)
    if not components:
        return None
    one, other = unscaled(model, a), unscaled(model, b)
    lengths = one.length * other.length
    if not (lengths and a.vector.any() and b.vector.any()):
        return Removal(components, 0.0, 0.0, 0.0, [], [])
    left = float(one.vector @ other.vector) / lengths
    taken = float(one.removed @ other.removed) / lengths
    return Removal(
        components,
        left + taken,
        left,
        taken,
        taken_words(a, one.removed_terms @ other.removed / lengths),
        taken_words(b, other.removed_terms @ one.removed / lengths),
    )


def taken_words(document: Document, values: npt.NDArray[np.float64]) -> list[tuple[str, float]]:
    """The words that had most of what was taken."""
    order = np.argsort(-np.abs(values), kind="stable")[:TAKEN_WORDS]
    return [(document.words[place], float(values[place])) for place in order]
