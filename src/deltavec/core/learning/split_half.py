r"""Split-half reliability: how strong each direction is, measured and not assumed.

The first and the second half of a document share what it is about, and nothing else. So their
covariance is the signal, provided that the table did not learn from these documents: one that did
has memorized them. A sample of the corpus falls into two folds; each is measured in the table T_k
of the other,

.. math:: C_k = \mathrm{sym} \frac{\sum_d u_d\, y_a y_b^\top}{\sum_d u_d},
          \quad u_d = \min(N_d / L_0, 1),

with :math:`y_a, y_b` the centered means of the rows of the first and the second half of document d,
and brought into the axes of the whole corpus' table T:

.. math:: C = \tfrac12 \sum_k P_k C_k P_k^\top, \quad P_k = \sum_i p_i\, T_i T_{ki}^\top.

The weights :math:`g_j` that the singular values suggest are the prior, worth :math:`n_0` documents:

.. math:: B = \frac{n C + n_0 \kappa\, \mathrm{diag}(g^2)}{n + n_0}
          = Q\, \mathrm{diag}(b)\, Q^\top, \quad g \leftarrow \min(b / b_2, 1)^{1/2},

with :math:`\kappa` such that the traces agree, and n the documents measured, at most 6,000. Rows
become :math:`T Q`. Without documents long enough to halve this is the prior itself.

Documents that are to be compared are measured in T, which may have learned from them:
:math:`C_c` is deflated by what that adds, direction by direction, and B is its prior:

.. math:: B_c = \frac{n_c\, D C_c D + n_1 B}{n_c + n_1}, \quad D = Q\, \mathrm{diag}(\sqrt\rho)\,
          Q^\top, \quad \rho_j = \frac{q_j^\top C q_j}{q_j^\top C_{\mathrm{in}}\, q_j},

with :math:`C_{\mathrm{in}}` the same covariance in T, and :math:`n_c = (\sum u)^2 / \sum u^2`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int32s, UInt64s, blocks, fix_signs, offsets_of
from deltavec.core.forms import EmbeddingTable, project
from deltavec.core.learning import kernels
from deltavec.core.learning.svd import LeftSingular
from deltavec.core.statistics import ROWS_AT_ONCE, CorpusStatistics
from deltavec.core.threads import equal_shares, parallel_map

FEWEST_WORDS = 20
# 256 MB of ids: what is measured of a larger corpus. See docs/decisions/0018.
SAMPLE_WORDS = 1 << 26
PRIOR_DOCUMENTS = 1_000
COLLECTION_DOCUMENTS = 8_192
# A half document of a collection that is longer than so many medians is cut to that: one document
# made up a sixth of a covariance.
LONGEST_HALF = 2.0
SHARES_PER_THREAD = 8
# Directions without split-half covariance, or with less, have no strength but for this share.
LEAST_STRENGTH = 1e-12

LearnFold = Callable[[int], LeftSingular]
"""Learns the whitened rows of all words from the first fold (0) or the second (1)."""


class HalfSample(NamedTuple):
    """The first and the second half of each of some documents.

    Attributes
    ----------
    first, second : ndarray of float32, shape (documents, dimensions)
        The mean rows of their words.
    weights : ndarray of float64
        How much each document counts.
    hashes : ndarray of uint64
        A number for each document that follows from its words.
    """

    first: Float32s
    second: Float32s
    weights: Float64s
    hashes: UInt64s

    @classmethod
    def empty(cls, dimensions: int) -> HalfSample:
        """The sample of no documents."""
        none = np.zeros((0, dimensions), np.float32)
        return cls(none, none, np.zeros(0), np.zeros(0, np.uint64))

    def sampled(self, more: HalfSample) -> HalfSample:
        """These documents and more, or as many as are kept: the same whatever the order."""
        hashes = np.concatenate([self.hashes, more.hashes])
        kept = np.argsort(hashes, kind="stable")[:COLLECTION_DOCUMENTS]
        return HalfSample(
            np.concatenate([self.first, more.first])[kept],
            np.concatenate([self.second, more.second])[kept],
            np.concatenate([self.weights, more.weights])[kept],
            hashes[kept],
        )


class Folds(NamedTuple):
    """Documents in two folds, one after the other.

    Attributes
    ----------
    ids : ndarray of int32
        The words of all of them, each document closed by -1.
    second : int
        The place where the second fold begins.
    """

    ids: Int32s
    second: int

    @classmethod
    def of(cls, first: Int32s, second: Int32s) -> Folds:
        """The folds of these documents."""
        return cls(np.concatenate([first, second]), len(first))

    @property
    def both(self) -> tuple[Int32s, Int32s]:
        """The words of either fold."""
        return self.ids[: self.second], self.ids[self.second :]


class Axes(NamedTuple):
    """Orthonormal directions, one a column, the strongest first, and how strong they are."""

    directions: Float64s
    spectrum: Float64s


def sample_share(statistics: CorpusStatistics) -> float:
    """The share of a corpus' documents that is measured: all of them, unless there are too many."""
    return min(1.0, SAMPLE_WORDS / max(statistics.known_tokens, 1))


def folds_of(ids: Int32s, share: float = 1.0) -> Folds:
    """Two folds of documents, or of so large a share of them.

    Which documents they hold follows from their words: documents that say the same are in one
    fold, and neither the order of the corpus nor the machine that reads a part of it matters.
    """
    ends = kernels.document_ends(ids)
    lengths = np.diff(ends, prepend=-1)
    hashes = np.empty(len(ends), np.uint64)
    kernels.hash_documents(ids, ends, hashes)
    taken = (hashes >> np.uint64(1)) / 2.0**63 <= share
    second = (hashes & np.uint64(1)).astype(bool)
    in_first = int(lengths[taken & ~second].sum())
    folds = Folds(np.empty(int(lengths[taken].sum()), np.int32), in_first)
    for fold, wanted in zip(folds.both, (taken & ~second, taken & second), strict=True):
        kernels.copy_documents(ids, ends, wanted, fold)
    return folds


def long_enough(ids: Int32s) -> int:
    """How many documents can be halved."""
    lengths = np.diff(kernels.document_ends(ids), prepend=-1) - 1
    return int((lengths >= FEWEST_WORDS).sum())


def half_vectors(
    ids: Int32s, rows: Float32s, usual_length: float, threads: int = 1, most: int | None = None
) -> HalfSample:
    """The sample of the documents that are long enough to be split, or of so many at the most.

    Those are taken whose hashes are the least.
    """
    ends = kernels.document_ends(ids)
    hashes = np.empty(len(ends), np.uint64)
    kernels.hash_documents(ids, ends, hashes)
    begins = np.concatenate([np.zeros(min(1, len(ends)), np.int64), ends[:-1] + 1])
    taken = np.flatnonzero(ends - begins >= FEWEST_WORDS)
    if most is not None:
        taken = taken[np.argsort(hashes[taken], kind="stable")[:most]]
    begins, ends = begins[taken], ends[taken]
    first, second = np.zeros((2, len(ends), rows.shape[1]), np.float32)

    def work(share: tuple[int, int]) -> None:
        some = slice(*share)
        kernels.half_means(ids, begins[some], ends[some], rows, first[some], second[some])

    shares = equal_shares(offsets_of(ends - begins), threads * SHARES_PER_THREAD)
    list(parallel_map(work, shares if len(ends) else [], threads))
    return HalfSample(first, second, np.minimum((ends - begins) / usual_length, 1.0), hashes[taken])


def covariance(
    sample: HalfSample, longest: float = np.inf, threads: int = 1
) -> tuple[Float64s, float]:
    """The split-half covariance, and how many documents it counts for.

    A half longer than so many medians is cut to that length. Any number of threads gives the same
    bits.
    """
    weights, empty = sample.weights, np.zeros((sample.first.shape[1],) * 2)
    if len(weights) == 0:
        return empty, 0.0
    centers = [part.mean(axis=0, dtype=np.float64) for part in sample[:2]]
    bounds = [np.inf, np.inf]
    if longest < np.inf:
        lengths = (
            np.linalg.norm(part - c, axis=1) for part, c in zip(sample, centers, strict=False)
        )
        bounds = [longest * float(np.median(each)) for each in lengths]

    def shared(rows: slice) -> Float64s:
        first = shorten(sample.first[rows] - centers[0], bounds[0])
        second = shorten(sample.second[rows] - centers[1], bounds[1])
        return np.asarray((first * weights[rows, None]).T @ second)

    parts = parallel_map(shared, [*blocks(len(weights), ROWS_AT_ONCE)], threads)
    matrix = sum(parts, empty) / weights.sum()
    return (matrix + matrix.T) / 2, weights.sum() ** 2 / np.square(weights).sum()


def shorten(vectors: Float64s, longest: float) -> Float64s:
    """The vectors, none longer than this."""
    if longest == np.inf:
        return vectors
    lengths = np.linalg.norm(vectors, axis=1)
    within: Float64s = vectors * (longest / np.maximum(lengths, max(longest, 1e-300)))[:, None]
    return within


def axes_of(matrix: Float64s) -> Axes:
    """The axes of a covariance and their spectrum, the second strongest and beyond being 1."""
    values, directions = np.linalg.eigh(matrix)
    values, directions = values[::-1], directions[:, ::-1]
    second = values[min(1, len(values) - 1)]
    spectrum = np.sqrt(np.clip(values / second, LEAST_STRENGTH, 1.0))
    return Axes(fix_signs(directions, axis=0), spectrum)


class Evidence(NamedTuple):
    """The split-half covariance of a corpus in its table.

    Attributes
    ----------
    outside : ndarray of float64, shape (dimensions, dimensions)
        C: as tables saw it that did not learn from the documents.
    inside : ndarray of float64, shape (dimensions, dimensions)
        The same as the table itself sees it, which did.
    documents : int
        How many documents say so.
    """

    outside: Float64s
    inside: Float64s
    documents: int


class Measured(NamedTuple):
    """Split-half covariance in its own axes, the prior included.

    Attributes
    ----------
    axes : Axes
        The axes.
    signal : ndarray of float64, shape (dimensions, dimensions)
        The covariance B along them.
    deflation : ndarray of float64, shape (dimensions, dimensions)
        D: what is left of a covariance measured in a table that learned from its documents.
    carrying_half : int
        How many axes carry half of the signal.
    """

    axes: Axes
    signal: Float64s
    deflation: Float64s
    carrying_half: int


def evidence(
    table: EmbeddingTable,
    statistics: CorpusStatistics,
    folds: Folds,
    learn: LearnFold,
    *,
    most_documents: int,
    threads: int = 1,
) -> Evidence:
    """The split-half covariance in a table, also as tables see it that do not know the documents.

    Parameters
    ----------
    table, statistics
        The table of the whole corpus, and its counts.
    folds
        The documents, from `folds_of`.
    learn
        Learns T from a fold.
    most_documents
        For how many documents they may count at the most.
    """
    rows = np.asarray(table.rows / table.direction_weights.astype(np.float32), np.float32)
    frequencies, usual_length = statistics.term_frequencies, statistics.mean_length
    documents = [long_enough(fold) for fold in folds.both]
    share = sum(documents) / max(sum(len(kernels.document_ends(fold)) for fold in folds.both), 1)
    outside, inside = np.zeros((2, rows.shape[1], rows.shape[1]))
    if min(documents) < 2:  # nothing to compare them with
        return Evidence(outside, inside, 0)

    def shared_in(rows: Float32s, fold: Int32s) -> Float64s:
        return covariance(half_vectors(fold, rows, usual_length, threads), threads=threads)[0]

    for number, fold in enumerate(folds.both):
        learned = learn(1 - number).vectors
        turn = rows.T @ (frequencies[:, None] * learned)
        outside += turn @ shared_in(learned, fold) @ turn.T / 2
        inside += shared_in(rows, fold) / 2
    speak_for_all = min(1.0, 2 * share)  # few long documents do not speak for many short ones
    return Evidence(outside, inside, round(min(most_documents, sum(documents)) * speak_for_all))


def measure(
    found: Evidence,
    spectrum: Float64s,
    steepness: float = 0.0,
    prior_documents: int = PRIOR_DOCUMENTS,
) -> Measured | None:
    """The measured axes and signal, with the spectrum as prior; None without evidence.

    A steepness s above 0 multiplies B from both sides with the spectrum to the power s.
    """
    amount = float(np.trace(found.outside))
    if found.documents == 0 or not amount > 0:
        return None
    prior = np.diag(np.square(spectrum)) * (amount / np.square(spectrum).sum())
    share = found.documents / (found.documents + prior_documents)
    steep = spectrum**steepness
    signal = steep[:, None] * (share * found.outside + (1 - share) * prior) * steep
    axes = axes_of(signal)
    inside = variance_along(found.inside, axes)
    kept = variance_along(found.outside, axes) / np.where(inside > 0, inside, np.inf)
    deflation = axes.directions * np.sqrt(np.clip(kept, 0, 1)) @ axes.directions.T
    deflation = steep[:, None] * deflation
    running = np.cumsum(variance_along(signal, axes))
    return Measured(
        axes,
        project(signal, axes.directions),
        project(deflation, axes.directions),
        int(np.searchsorted(running, running[-1] / 2)) + 1,
    )


def variance_along(matrix: Float64s, axes: Axes) -> Float64s:
    """The diagonal of a matrix in these axes."""
    return np.asarray(np.einsum("ij,ij->j", matrix @ axes.directions, axes.directions))


def collection_axes(table: EmbeddingTable, sample: HalfSample) -> Axes:
    """The axes for documents that are compared with each other, by their own covariance."""
    own, documents = covariance(sample, LONGEST_HALF)
    share = documents / (documents + PRIOR_DOCUMENTS)
    deflated = table.deflation @ own @ table.deflation.T
    return axes_of(share * deflated + (1 - share) * table.signal)
