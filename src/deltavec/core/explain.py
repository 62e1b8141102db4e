r"""Which words make two documents similar: the cosine as a sum of one share per word.

A document is :math:`u_a = (\sum_i \alpha_i r_i - o) / |c_a|`, so its cosine with another is

.. math:: u_a \cdot u_b = \sum_i \frac{\alpha_i\, r_i \cdot u_b}{|c_a|} - \frac{o \cdot u_b}{|c_a|}
          = \sum_i \mathrm{share}_i + \mathrm{share\ of\ the\ offset},

exactly, and in the same way once more over the words of the other.

What the removal of common components took away splits likewise. With :math:`P` the components and
:math:`w = c + P^\top P w` the document before they were removed,

.. math:: \cos(w_a, w_b) = \frac{c_a \cdot c_b}{|w_a| |w_b|}
          + \frac{P w_a \cdot P w_b}{|w_a| |w_b|} = \mathrm{left} + \mathrm{taken}.

Where units are not words, the share of a unit is aligned with the words that it came from.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float64s, Int64s
from deltavec.core.forms import EmbeddingTable
from deltavec.core.kernels.embed import ROUNDING
from deltavec.core.text.tokenize import Tokenized
from deltavec.core.threads import stop_if_cancelled
from deltavec.core.vocabulary import Vocabulary


class Alignment(NamedTuple):
    """A sparse matrix: the share of each unit that came from each word, sorted by unit."""

    words: Int64s
    units: Int64s
    values: Float64s


class WordAlignment(NamedTuple):
    """Which words the known units of a text came from.

    Attributes
    ----------
    words, counts
        The distinct words with a known unit, and how often each occurs in the text.
    shares
        The share of a unit that came from a word; None where units are words.
    """

    words: list[str]
    counts: Int64s
    shares: Alignment | None

    def by_word(self, of_units: Float64s) -> Float64s:
        """Values of units, summed for each word."""
        if self.shares is None:
            return of_units
        of_words = np.zeros((len(self.words), of_units.shape[1]))
        np.add.at(
            of_words, self.shares.words, self.shares.values[:, None] * of_units[self.shares.units]
        )
        return of_words


def align(tokenized: Tokenized, numbers: Int64s, ids: Int64s) -> WordAlignment:
    """The alignment of a document whose units have these numbers, the distinct known ones ``ids``.

    A unit that came from two words counts half for each. Words are in the order of their units in
    ``ids``.
    """
    counts = Counter(tokenized.words)
    if tokenized.units == tokenized.words:
        spelled = dict(zip(numbers.tolist(), tokenized.units, strict=True))
        words = [spelled[number] for number in ids.tolist()]
        return WordAlignment(words, np.array([counts[word] for word in words], np.int64), None)
    columns = {number: column for column, number in enumerate(ids.tolist())}
    origins: defaultdict[tuple[int, str], float] = defaultdict(float)
    for number, (first, last) in zip(numbers.tolist(), tokenized.origins, strict=True):
        for word in tokenized.words[first : last + 1] if number >= 0 else ():
            origins[columns[number], word] += 1 / (last - first + 1)
    places = sorted(origins, key=lambda origin: origin[0])
    rows = {word: row for row, word in enumerate(dict.fromkeys(word for _, word in places))}
    values = np.array([origins[place] for place in places], np.float64)
    units = np.array([column for column, _ in places], np.int64)
    shares = Alignment(
        np.array([rows[word] for _, word in places], np.int64),
        units,
        values * (1 / np.bincount(units, values, minlength=len(ids)))[units],
    )
    return WordAlignment(list(rows), np.array([counts[word] for word in rows], np.int64), shares)


def known_words(tokenized: Tokenized, numbers: Int64s) -> set[str]:
    """The words of which a unit is known; ``numbers`` are the ids of all units, -1 for none."""
    origins = (tokenized.origins[place] for place in np.flatnonzero(numbers >= 0).tolist())
    return {word for first, last in origins for word in tokenized.words[first : last + 1]}


def unknown_words(tokenized: Tokenized, numbers: Int64s) -> tuple[str, ...]:
    """The words of which no unit is known, in their order, each once."""
    known = known_words(tokenized, numbers)
    return tuple(dict.fromkeys(word for word in tokenized.words if word not in known))


Vector = Float64s

WORDS_AT_ONCE = 256  # of one text, against all of the other: memory stays small
TAKEN_WORDS = 8
SHOWN_PAIRS = 5  # in the repr


class WordShare(NamedTuple):
    """A word of one document, how often it stands there, and its share of the cosine."""

    word: str
    occurrences: int
    share: float


class Shares(NamedTuple):
    """The known words of one document, largest share first, and the share of its offset."""

    words: tuple[WordShare, ...]
    offset: float

    @property
    def by_word(self) -> dict[str, float]:
        """The share of each word."""
        return {word.word: word.share for word in self.words}


class WordPair(NamedTuple):
    """A word of each document, and what the two add to the cosine together."""

    word_a: str
    word_b: str
    share: float


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
    words_a, words_b : tuple of (str, float)
        The words that had most of what was taken, by their share of it.
    """

    components: int
    before: float = 0.0
    left: float = 0.0
    taken: float = 0.0
    words_a: tuple[tuple[str, float], ...] = ()
    words_b: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why two documents are as similar as they are.

    Attributes
    ----------
    cosine : float
        The cosine of the two documents' vectors; 0 if one of them has none.
    words_a, words_b : tuple of WordShare
        The known words of each document, largest share first. The shares of one document and its
        offset add up to the cosine.
    offset_a, offset_b : float
        What taking the corpus' center off each document adds; 0 unless the form is ``center``.
    pairs : tuple of WordPair
        The pairs of words that pull the two together, strongest first.
    unknown_a, unknown_b : tuple of str
        Words that have no vector, in their order.
    text_a, text_b : tuple of str
        All words of each document, in their order.

    Examples
    --------
    >>> found = model.explain("bush fires", "fires in the mountains")
    >>> found
    Explanation(cosine 0.489: fires/fires 0.270, bush/fires 0.183, ...)
    >>> total = sum(word.share for word in found.words_a) + found.offset_a
    >>> abs(total - found.cosine) < 1e-6
    True
    """

    cosine: float
    words_a: tuple[WordShare, ...]
    words_b: tuple[WordShare, ...]
    offset_a: float
    offset_b: float
    pairs: tuple[WordPair, ...]
    unknown_a: tuple[str, ...]
    unknown_b: tuple[str, ...]
    text_a: tuple[str, ...] = ()
    text_b: tuple[str, ...] = ()

    def __repr__(self) -> str:
        strongest = [f"{a}/{b} {share:.3f}" for a, b, share in self.pairs[:SHOWN_PAIRS]]
        return f"Explanation(cosine {self.cosine:.3f}: {', '.join(strongest) or 'no words'})"

    def _repr_html_(self) -> str:
        """Both texts, their words shaded by share, and the strongest pairs: for notebooks."""
        from deltavec.notebook import explanation_html

        return explanation_html(self)


@dataclass(frozen=True, eq=False)
class Contributions:
    """A document in the terms of its sum: words, what each adds, and the vector they make.

    The sum is over units. Where these are not the words (`WordAlignment`), what a unit adds
    is shared out among the words that it came from, so that words add up to the same.
    """

    words: list[str]
    counts: Int64s
    terms: Float64s  # what each word adds: (n_i / N - penalty_i) row_i / length
    ids: Int64s  # of the units
    weights: Float64s  # (n_i / N - penalty_i) over the length, of the units
    alignment: WordAlignment
    scale: float  # one over the length; 0 if nothing but rounding is left
    offset: Float64s  # minus the offset, over the length
    vector: Float64s
    unknown: tuple[str, ...]
    text: tuple[str, ...]


class QuerySum(NamedTuple):
    """The sum over the units of a document, which is what its vector takes.

    Attributes
    ----------
    numbers : ndarray of int64
        The id of each unit in its order, -1 of those that are not known.
    ids : ndarray of int64
        The different ones that are known.
    shares : ndarray of float64
        n_i / N - penalty_i of each.
    terms : ndarray of float64
        What each adds before the sum is divided by its length.
    offset : ndarray of float64
        Minus the offset; zeros if no unit is known.
    scale : float
        One over the length; 0 if nothing but rounding is left.
    vector : ndarray of float64
        The sum, of unit length.
    """

    numbers: Int64s
    ids: Int64s
    shares: Float64s
    terms: Float64s
    offset: Float64s
    scale: float
    vector: Float64s


class QueryWeights(NamedTuple):
    """How much each unit of a query counts, and what each dimension is multiplied with."""

    units: Float64s
    dimensions: Float64s


def query_sum(
    tokenized: Tokenized,
    vocabulary: Vocabulary,
    folded: EmbeddingTable,
    weights: QueryWeights | None = None,
) -> QuerySum:
    """The sum over the units of a document: the direction of a query needs no more."""
    numbers = vocabulary.ids(tokenized.units)
    # Of a few, sooner counted one by one than sorted as an array.
    often = Counter(numbers.tolist())
    del often[-1]
    known = sorted(often)
    ids = np.array(known, np.int64)
    counts = np.array([often[number] for number in known], np.int64)
    amounts, rows, center = counts, folded.rows[ids].astype(np.float64), folded.offset
    if weights is not None:
        weight_of = dict(zip(numbers.tolist(), weights.units.tolist(), strict=True))
        amounts = counts * np.array([weight_of[number] for number in known])
        rows, center = rows * weights.dimensions, center * weights.dimensions
    shares = amounts / (amounts.sum() or 1) - folded.penalties[ids]
    terms = shares[:, None] * rows
    offset = -center if len(ids) else np.zeros_like(center)
    vector = terms.sum(axis=0) + offset
    magnitude = np.abs(shares) @ folded.norms[ids] + folded.offset_norm
    length = float(np.linalg.norm(vector))
    scale = 1 / length if length > ROUNDING * magnitude else 0.0
    return QuerySum(numbers, ids, shares, terms, offset, scale, vector * scale)


def decompose(
    tokenized: Tokenized,
    vocabulary: Vocabulary,
    folded: EmbeddingTable,
    whole: QuerySum | None = None,
) -> Contributions:
    """The document of these words and units, taken apart; its sum may be known already."""
    whole = whole or query_sum(tokenized, vocabulary, folded)
    own = align(tokenized, whole.numbers, whole.ids)
    return Contributions(
        own.words,
        own.counts,
        own.by_word(whole.terms * whole.scale),
        whole.ids,
        whole.shares * whole.scale,
        own,
        whole.scale if len(whole.ids) else 0.0,
        whole.offset * whole.scale,
        whole.vector,
        unknown_words(tokenized, whole.numbers),
        tuple(tokenized.words),
    )


def compare(a: Contributions, b: Contributions, pairs: int) -> Explanation:
    """Why the two documents are as similar as they are, with the strongest pairs of words."""
    of_a, of_b = shares(a, b.vector), shares(b, a.vector)
    return Explanation(
        cosine=float(a.vector @ b.vector),
        words_a=of_a.words,
        words_b=of_b.words,
        offset_a=of_a.offset,
        offset_b=of_b.offset,
        pairs=top_pairs(a, b, pairs),
        unknown_a=a.unknown,
        unknown_b=b.unknown,
        text_a=a.text,
        text_b=b.text,
    )


def shares(document: Contributions, vector: Vector) -> Shares:
    """What each word of the document adds to its cosine with a vector of unit length."""
    values = document.terms @ vector
    order = np.argsort(-values, kind="stable")
    words = (WordShare(document.words[i], int(document.counts[i]), float(values[i])) for i in order)
    return Shares(tuple(words), float(document.offset @ vector))


def top_pairs(
    a: Contributions, b: Contributions, count: int, sign: int = 1
) -> tuple[WordPair, ...]:
    """The pairs of words that add most to the cosine, or with -1 take most, strongest first."""
    found = largest_products(a.terms, sign * b.terms, count)
    return tuple(WordPair(a.words[i], b.words[j], sign * share) for i, j, share in found)


def largest_products(rows: Float64s, columns: Float64s, count: int) -> list[tuple[int, int, float]]:
    """The largest positive entries of ``rows @ columns.T``, largest first; ties by place."""
    kept: list[tuple[float, int, int]] = []
    for first in range(0, len(rows) if count and len(columns) else 0, WORDS_AT_ONCE):
        stop_if_cancelled()
        block = (rows[first : first + WORDS_AT_ONCE] @ columns.T).ravel()
        least = np.partition(block, -count)[-count] if len(block) > count else 0.0
        places = np.flatnonzero((block > 0) & (block >= least)).tolist()
        found = ((-float(block[place]), *divmod(place, len(columns))) for place in places)
        kept += [(share, first + row, column) for share, row, column in found]
        kept = sorted(kept)[:count]
    return [(row, column, -share) for share, row, column in kept]


class RemovedPart(NamedTuple):
    """What of a document lay along the components, in all and word by word, over its length."""

    total: Float64s
    terms: Float64s

    @property
    def length(self) -> float:
        """The length before the removal, of a document whose length is 1 after it."""
        return float(np.hypot(1, np.linalg.norm(self.total)))


def removed_part(document: Contributions, folded: EmbeddingTable) -> RemovedPart:
    """What of a document lay along the components."""
    terms = document.weights[:, None] * folded.coordinates[document.ids]
    total = terms.sum(axis=0) - document.scale * folded.offset_coordinates
    return RemovedPart(total, document.alignment.by_word(terms))


def removal(a: Contributions, b: Contributions, folded: EmbeddingTable) -> Removal | None:
    """What the removed components took away of the cosine; None if there are none."""
    components = len(folded.components)
    if not components:
        return None
    if not (a.vector.any() and b.vector.any()):
        return Removal(components)
    one, other = removed_part(a, folded), removed_part(b, folded)
    lengths = one.length * other.length
    left = float(a.vector @ b.vector) / lengths
    taken = float(one.total @ other.total) / lengths
    return Removal(
        components,
        left + taken,
        left,
        taken,
        most_taken(a, one.terms @ other.total / lengths),
        most_taken(b, other.terms @ one.total / lengths),
    )


def most_taken(document: Contributions, values: Float64s) -> tuple[tuple[str, float], ...]:
    """The words that had most of what was taken."""
    order = np.argsort(-np.abs(values), kind="stable")[:TAKEN_WORDS]
    return tuple((document.words[place], float(values[place])) for place in order)
