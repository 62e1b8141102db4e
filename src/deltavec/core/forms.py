r"""How weighted word vectors become one table: sum, center and delta.

Weight and form are linear in the word vectors, so fitting folds them into a table, and embedding
is one pass over it:

.. math:: c = \sum_{i \in V_d} (n_i / N - \mathrm{penalty}_i)\, \mathrm{row}_i - \mathrm{offset}
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from deltavec.core.arrays import FEW_ROWS, Float32s, Float64s, blocks, read_only
from deltavec.core.kernels.embed import TableView
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.vectors import WordVectors
from deltavec.core.weights import Weights


def unmeasured() -> Float64s:
    """A covariance that was not measured."""
    return np.zeros((0, 0))


@dataclass(frozen=True, eq=False)
class EmbeddingTable:
    """Weight, form and removal compiled into one table.

    Attributes
    ----------
    rows : ndarray of float32, shape (words, dimensions)
        What one word adds.
    penalties : ndarray of float64, shape (words,)
        What is taken off a word's share of the document.
    offset : ndarray of float64, shape (dimensions,)
        What is taken off every document.
    norms : ndarray of float32, shape (words,)
        The lengths of the rows before any removal: what rounding is measured against.
    offset_norm : float
        The length of the offset before any removal.
    spectrum : ndarray of float64, shape (dimensions,)
        How strong each direction is, above 0 to 1: what the length of documents weighs. All 1
        unless the recipe is ``spectral``.
    length_ratio : float
        The length of the documents the rows are weighted for, over the fitting corpus' mean.
    components : ndarray of float64, shape (removed, dimensions)
        The directions that were removed, orthonormal.
    coordinates : ndarray of float32, shape (words, removed)
        What each row had along them.
    offset_coordinates : ndarray of float64, shape (removed,)
        What the offset had along them.
    signal, deflation : ndarray of float64, shape (dimensions, dimensions)
        The split-half covariance in these axes (`deltavec.core.learning.split_half`); without any
        rows where that was not measured.
    """

    rows: Float32s
    penalties: Float64s
    offset: Float64s
    norms: Float32s
    offset_norm: float
    spectrum: Float64s
    length_ratio: float
    components: Float64s
    coordinates: Float32s
    offset_coordinates: Float64s
    signal: Float64s = field(default_factory=unmeasured)
    deflation: Float64s = field(default_factory=unmeasured)

    def __post_init__(self) -> None:
        for name in self.arrays():
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __reduce__(self) -> tuple[Any, ...]:
        return EmbeddingTable, tuple(getattr(self, one.name) for one in fields(self))

    @classmethod
    def of_rows(
        cls, rows: Float32s, norms: Float32s | None = None, *, spectrum: Float64s | None = None
    ) -> EmbeddingTable:
        """The table of these rows, nothing taken off; the norms are theirs unless told."""
        words, dimensions = rows.shape
        return cls(
            rows=rows,
            penalties=np.zeros(words),
            offset=np.zeros(dimensions),
            norms=np.linalg.norm(rows, axis=1) if norms is None else norms,
            offset_norm=0.0,
            spectrum=np.ones(dimensions) if spectrum is None else spectrum,
            length_ratio=1.0,
            **no_components(words, dimensions),
        )

    @functools.cached_property
    def terms(self) -> TableView:
        """The table as the kernels read it."""
        return TableView(
            rows=self.rows,
            penalties=self.penalties if self.penalties.any() else self.penalties[:0],
            norms=self.norms,
            longest=float(self.norms.max(initial=0)),
            offset=self.offset,
            offset_norm=self.offset_norm,
        )

    @classmethod
    def arrays(cls) -> tuple[str, ...]:
        """The names of the attributes that are arrays."""
        numbers = ("offset_norm", "length_ratio")
        return tuple(one.name for one in fields(cls) if one.name not in numbers)

    def without(self, components: Float64s) -> EmbeddingTable:
        r"""The table whose documents have nothing along these components, and no others removed.

        .. math:: \mathrm{row}_i \leftarrow \mathrm{row}_i - P^\top P\, \mathrm{row}_i

        (Schmidt, equation 1, for the rows of P.) Taking the projection from every row and from
        the offset takes it from every document, since a document is linear in them.
        """
        whole = self.restored()
        rows = np.empty_like(whole.rows)
        coordinates = np.empty((len(rows), len(components)), np.float32)
        for block in blocks(len(rows), FEW_ROWS):
            along = whole.rows[block] @ components.T
            rows[block] = whole.rows[block] - along @ components
            coordinates[block] = along
        along = whole.offset @ components.T
        return replace(
            whole,
            rows=rows,
            offset=whole.offset - along @ components,
            components=components,
            coordinates=coordinates,
            offset_coordinates=along,
        )

    @property
    def direction_weights(self) -> Float64s:
        """How much each direction counts in the rows, by its strength and the length ratio."""
        return length_weights(self.spectrum, self.length_ratio)

    def length_change(self, length_ratio: float) -> Float64s:
        """What each direction is multiplied with for documents of another length."""
        return length_weights(self.spectrum, length_ratio) / self.direction_weights

    def reweight_for_length(self, length_ratio: float) -> EmbeddingTable:
        """The table weighted for documents of another length; the offset is weighted with it."""
        change = self.length_change(length_ratio)
        rows = self.rows * change.astype(np.float32)
        return self._remade(rows, self.offset * change, length_ratio=length_ratio)

    def turned(self, directions: Float64s, spectrum: Float64s) -> EmbeddingTable:
        """The table along other directions, one a column, that have these spectrum.

        The offset is turned with it, and so is what was measured.
        """
        change = directions * length_weights(spectrum, self.length_ratio)
        change /= self.direction_weights[:, None]
        rows = np.empty_like(self.rows)
        for block in blocks(len(rows)):
            rows[block] = self.rows[block] @ change.astype(np.float32)
        return self._remade(
            rows,
            self.offset @ change,
            spectrum=spectrum,
            signal=project(self.signal, directions),
            deflation=project(self.deflation, directions),
        )

    def _remade(self, rows: Float32s, offset: Float64s, **others: Any) -> EmbeddingTable:
        norms, offset_norm = np.linalg.norm(rows, axis=1), float(np.linalg.norm(offset))
        return replace(
            self, rows=rows, norms=norms, offset=offset, offset_norm=offset_norm, **others
        )

    def with_offset(self, shares: Float64s) -> EmbeddingTable:
        """The table whose offset is the sum of its rows, each by this share."""
        offset = np.zeros(self.rows.shape[1])
        for block in blocks(len(shares)):
            offset += shares[block] @ self.rows[block]
        return replace(self, offset=offset, offset_norm=float(np.linalg.norm(offset)))

    def restored(self) -> EmbeddingTable:
        """The table before any removal, to the rounding of float32."""
        if len(self.components) == 0:
            return self
        rows = np.empty_like(self.rows)
        for block in blocks(len(rows), FEW_ROWS):
            rows[block] = self.rows[block] + self.coordinates[block] @ self.components
        return replace(
            self,
            rows=rows,
            offset=self.offset + self.offset_coordinates @ self.components,
            **no_components(*rows.shape),
        )


def project(matrix: Float64s, directions: Float64s) -> Float64s:
    """A covariance seen along other directions; none stays none."""
    return directions.T @ matrix @ directions if len(matrix) else matrix


def length_weights(spectrum: Float64s, length_ratio: float) -> Float64s:
    r"""How much each direction counts for documents of this length.

    .. math:: w_j = \frac{\lambda g_j}{1 + (\lambda - 1) g_j}

    (Spearman and Brown's formula for the reliability of a longer test.)
    """
    return length_ratio * spectrum / (1 + (length_ratio - 1) * spectrum)


def no_components(words: int, dimensions: int) -> dict[str, Any]:
    """The attributes of a table that had nothing removed."""
    return {
        "components": np.zeros((0, dimensions)),
        "coordinates": np.zeros((words, 0), np.float32),
        "offset_coordinates": np.zeros(0),
    }


def weighted(vectors: WordVectors, weights: Weights) -> EmbeddingTable:
    """The table of weighted rows, nothing taken off."""
    weights32 = weights.astype(np.float32)
    # Word vectors have unit length.
    return EmbeddingTable.of_rows(vectors.matrix * weights32[:, None], np.abs(weights32))


def sum_(
    vectors: WordVectors, weights: Weights, statistics: CorpusStatistics, min_frequency: float
) -> EmbeddingTable:
    r"""The weighted average of the document's word vectors.

    .. math:: c = \sum_{i \in V_d} w_i\, \mathrm{tf}_i\, v_i

    (Schmidt, equation 2.)
    """
    return weighted(vectors, weights)


def center(
    vectors: WordVectors, weights: Weights, statistics: CorpusStatistics, min_frequency: float
) -> EmbeddingTable:
    r"""The sum, seen from the weighted center of the corpus.

    .. math:: c = \sum_{i \in V_d} w_i\, \mathrm{tf}_i\, v_i
              - \sum_{i \in V,\ \mathrm{tf}_{ic} > \mathrm{min\_frequency}}
                w_i\, \mathrm{tf}_{ic}\, v_i

    (Schmidt, equation 7; the threshold is its optional variant.)
    """
    frequencies = statistics.term_frequencies
    shares = np.where(frequencies > min_frequency, frequencies, 0.0)
    return weighted(vectors, weights).with_offset(shares)


def delta(
    vectors: WordVectors, weights: Weights, statistics: CorpusStatistics, min_frequency: float
) -> EmbeddingTable:
    r"""The sum over how much more often than usual each word of the document occurs.

    .. math:: c = \sum_{i \in V_d} w_i\, \delta_i\, v_i,
              \quad \delta_i = \mathrm{tf}_i - \mathrm{tf}_{ic}

    (Schmidt, equation 9.)
    """
    return replace(weighted(vectors, weights), penalties=statistics.term_frequencies)


FORMS: dict[str, Callable[..., EmbeddingTable]] = {"sum": sum_, "center": center, "delta": delta}
