"""Counts over a corpus and second moments of its vectors, which add.

So batches, threads and machines are one reduce.
"""

from __future__ import annotations

import operator
from dataclasses import astuple, dataclass, replace

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, Float64s, blocks, fix_signs
from deltavec.core.threads import parallel_map
from deltavec.errors import CorpusError, InputError, LowCoverageWarning, warn

ENOUGH_WORDS = 1_000  # to tell by their shares that something is wrong
ENOUGH_DOCUMENTS = 10
NEARLY_ALL = 0.9
OTHER_TEXT = (
    "is it the right column, and the language that the model was fitted on? If so, fit a model on "
    "text like it (deltavec fit)"
)


@dataclass(frozen=True, eq=False)
class CorpusStatistics:
    """How often each word of a vocabulary occurs in a corpus.

    Attributes
    ----------
    token_counts : ndarray of int64
        :math:`n_{ic}`, occurrences of word i.
    document_counts : ndarray of int64
        :math:`D_i`, documents that contain word i.
    documents : int
        D, all documents, empty ones too.
    tokens : int
        Words in the corpus, in the vocabulary or not.
    unknown_documents : int
        Documents that hold no word of the vocabulary.
    """

    token_counts: npt.NDArray[np.int64]
    document_counts: npt.NDArray[np.int64]
    documents: int
    tokens: int
    unknown_documents: int

    @classmethod
    def empty(cls, words: int) -> CorpusStatistics:
        """The statistics of no documents at all, for a vocabulary of this many words."""
        return cls(np.zeros(words, np.int64), np.zeros(words, np.int64), 0, 0, 0)

    def __add__(self, other: CorpusStatistics) -> CorpusStatistics:
        if len(self.token_counts) != len(other.token_counts):
            raise InputError(
                "statistics add only over one vocabulary, "
                f"got {len(self.token_counts)} and {len(other.token_counts)} words"
            )
        return CorpusStatistics(
            self.token_counts + other.token_counts,
            self.document_counts + other.document_counts,
            self.documents + other.documents,
            self.tokens + other.tokens,
            self.unknown_documents + other.unknown_documents,
        )

    def taken(self, order: npt.NDArray[np.int64]) -> CorpusStatistics:
        """The same statistics for the words with these ids, in this order."""
        tokens, documents = self.token_counts[order], self.document_counts[order]
        return replace(self, token_counts=tokens, document_counts=documents)

    @property
    def known_tokens(self) -> int:
        r""":math:`N_c = \sum_i n_{ic}`, the occurrences of words in the vocabulary."""
        return int(self.token_counts.sum())

    @property
    def term_frequencies(self) -> npt.NDArray[np.float64]:
        r""":math:`\mathrm{tf}_{ic} = n_{ic} / N_c`; zeros for a corpus without known words."""
        frequencies: npt.NDArray[np.float64] = self.token_counts / max(self.known_tokens, 1)
        return frequencies

    @property
    def mean_length(self) -> float:
        """Words in the vocabulary per document."""
        return self.known_tokens / max(self.documents, 1)

    @property
    def coverage(self) -> float:
        """The share of the corpus' words that the vocabulary knows."""
        return self.known_tokens / max(self.tokens, 1)


@dataclass(frozen=True)
class TextCounts:
    """Documents and words of some text, and how many of them a model knows; they add."""

    documents: int = 0
    tokens: int = 0
    known_tokens: int = 0
    unknown_documents: int = 0

    @classmethod
    def of(cls, statistics: CorpusStatistics) -> TextCounts:
        """What these statistics come to."""
        return cls(
            statistics.documents,
            statistics.tokens,
            statistics.known_tokens,
            statistics.unknown_documents,
        )

    def __add__(self, other: TextCounts) -> TextCounts:
        return TextCounts(*map(operator.add, astuple(self), astuple(other)))

    def __sub__(self, other: TextCounts) -> TextCounts:
        return TextCounts(*map(operator.sub, astuple(self), astuple(other)))

    @property
    def coverage(self) -> float | None:
        """The share of the words that are known; None of no words at all."""
        return self.known_tokens / self.tokens if self.tokens else None


def require_known_words(statistics: CorpusStatistics) -> None:
    """Refuse a corpus from which nothing can be learned."""
    if statistics.documents == 0:
        raise CorpusError("the corpus holds no documents")
    if statistics.tokens == 0:
        raise CorpusError(f"none of the {statistics.documents:,} documents holds a word")
    if statistics.known_tokens == 0:
        raise CorpusError(
            f"none of the {statistics.tokens:,} words of the corpus has a vector: "
            "are the vectors of the same language, and lower-case?"
        )


def warn_low_coverage(
    counts: TextCounts, what_to_do: str = OTHER_TEXT, *, seen_once: int = 0
) -> None:
    """Say what of a text is not known, if that is most of it, in one warning.

    Parameters
    ----------
    counts
        Its documents and words.
    what_to_do
        The advice, a half sentence.
    seen_once
        How many of its words stand nowhere else.
    """
    words, documents = counts.tokens, counts.documents
    seen = []
    if words >= ENOUGH_WORDS and counts.known_tokens < words / 2:
        seen.append(f"{counts.known_tokens / words:.0%} of {words:,} words are known")
    if words >= ENOUGH_WORDS and seen_once > words / 2:
        seen.append(f"{seen_once / words:.0%} of {words:,} words stand nowhere else")
    if documents >= ENOUGH_DOCUMENTS and counts.unknown_documents >= NEARLY_ALL * documents:
        seen.append(f"{counts.unknown_documents:,} of {documents:,} documents hold no known word")
    if seen:
        message = f"little of this text is known: {', '.join(seen)}; {what_to_do}"
        warn(message, LowCoverageWarning)


ROWS_AT_ONCE = 1_024  # small enough for threads to have a few each

# Directions that carry less than this share of the moment are rounding of the vectors' float32.
NEGLIGIBLE = 1e-10


@dataclass(frozen=True, eq=False)
class SecondMoment:
    r"""The sum of :math:`u u^\top` over document vectors, uncentered.

    Attributes
    ----------
    matrix : ndarray of float64, shape (dimensions, dimensions)
        The sum.
    documents : int
        How many vectors were added, those of zeros too.
    """

    matrix: Float64s
    documents: int

    @classmethod
    def empty(cls, dimensions: int) -> SecondMoment:
        """The moment of no vectors at all."""
        return cls(np.zeros((dimensions, dimensions)), 0)

    @classmethod
    def of(cls, vectors: Float32s, threads: int = 1) -> SecondMoment:
        """The moment of these rows; any number of threads gives the same bits."""

        def squared(block: slice) -> Float64s:
            # float64: ten million documents lose digits in float32
            rows = vectors[block].astype(np.float64)
            return np.asarray(rows.T @ rows)

        parts = parallel_map(squared, [*blocks(len(vectors), ROWS_AT_ONCE)], threads)
        return cls(sum(parts, cls.empty(vectors.shape[1]).matrix), len(vectors))

    def __add__(self, other: SecondMoment) -> SecondMoment:
        if self.matrix.shape != other.matrix.shape:
            raise InputError(
                "moments add only over one number of dimensions, "
                f"got {len(self.matrix)} and {len(other.matrix)}"
            )
        return SecondMoment(self.matrix + other.matrix, self.documents + other.documents)


def leading_components(moment: SecondMoment, count: int) -> Float64s:
    r"""The ``count`` directions along which the documents are longest, one a row.

    The first right singular vectors of the matrix of documents, uncentered (Schmidt, section 1;
    Arora et al. 2017), as eigenvectors of :math:`\sum u u^\top`. The entry of each that is largest
    in absolute value is positive, so that results repeat. Documents that span fewer than ``count``
    directions give fewer.
    """
    values, directions = np.linalg.eigh(moment.matrix)
    leading = np.argsort(values)[::-1][:count]
    leading = leading[values[leading] > NEGLIGIBLE * max(values.sum(), 0.0)]
    return fix_signs(directions[:, leading].T, axis=1)
