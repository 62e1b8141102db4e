"""The collection in two dimensions: where each document stands.

``neighbors`` is a t-SNE layout (`deltavec.search.tsne`): a document stands among the most similar
ones, and distances between groups mean little. ``pca`` shows the first two principal components:
faster, and mostly one cloud.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deltavec.core.arguments import require_one_of
from deltavec.core.arrays import Float32s, Float64s, Int64s
from deltavec.core.threads import one_blas_thread

if TYPE_CHECKING:
    from deltavec.search import Index

DIGITS = 4  # of a coordinate between -1 and 1: finer than a screen
POINTS = 200_000  # documents on a map; of more a sample
EQUAL = 1 - 1e-6  # the cosine of two documents that are the same
SPEAKING = 5  # neighbors that say where a document stands that came later

OnShare = Callable[[float], None]


class Axes(NamedTuple):
    """The two directions of a map, and the piece of the plane that it shows.

    Attributes
    ----------
    mean : ndarray of float64, shape (dimensions,)
        Where the directions cross.
    directions : ndarray of float64, shape (dimensions, 2)
        Along which documents are placed; fewer in fewer dimensions.
    middle : ndarray of float64, shape (2,)
        What is in the middle of the map.
    reach : float
        How far it goes from there.
    """

    mean: Float64s
    directions: Float64s
    middle: Float64s
    reach: float

    @one_blas_thread()
    def places(self, vectors: Float32s) -> Float32s:
        """Where documents stand on the map; those beyond its edge stand on it."""
        from deltavec.search.tsne.layout import project

        plane = project(vectors, self.mean, self.directions)
        return np.clip((plane - self.middle) / self.reach, -1, 1).astype(np.float32)


class Positions(NamedTuple):
    """Where documents stand.

    Attributes
    ----------
    method : str
        ``neighbors`` or ``pca``.
    places : ndarray of float32, shape (documents, 2)
        Between -1 and 1; NaN for a document that was not placed.
    shown : ndarray of int64
        The rows on the map, in their order: all, or a sample.
    explained : tuple of float
        The share of the documents' variance along each axis; empty for ``neighbors``.
    axes : Axes or None
        What places other documents on the same map; None for ``neighbors``.
    """

    method: str
    places: Float32s
    shown: Int64s
    explained: tuple[float, ...]
    axes: Axes | None = None

    def of(self, rows: Int64s) -> list[tuple[float, float] | None]:
        """Where each of these documents stands; None for one that was not placed."""
        return [
            None if math.isnan(x) else (round(x, DIGITS), round(y, DIGITS))
            for x, y in self.places[rows].tolist()
        ]

    def kept(self, numbers: Int64s, index: Index, points: int) -> Positions:
        """Where documents stand that had these rows when the map was drawn; -1 came later."""
        places = np.where((numbers >= 0)[:, None], self.places[numbers], np.float32(np.nan))
        fresh = np.flatnonzero(numbers < 0)
        places[fresh] = place_new_documents(places, index, index.take(fresh))
        return place_layout(places, points)


def compute_layout(
    vectors: Float32s,
    method: str = "neighbors",
    *,
    points: int = POINTS,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnShare | None = None,
) -> Positions:
    """Where the documents of these vectors stand.

    Parameters
    ----------
    vectors
        One a row; may be memory-mapped.
    method
        ``neighbors`` or ``pca``.
    points
        How many to show; of more documents a sample is drawn, and the map is that of the sample.
    seed
        For the sample.
    threads
        How many cores; all of them by default.
    on_progress
        Called with the share of the work that is done.
    """
    require_one_of("map", method, ("neighbors", "pca"))
    if method == "pca":
        return pca(vectors, points, seed)
    from deltavec.search.tsne.layout import neighbor_layout, rows_with_direction

    there = sample_rows(np.flatnonzero(rows_with_direction(vectors)), points, seed)
    places = np.full((len(vectors), 2), np.nan)
    places[there] = neighbor_layout(vectors[there], threads=threads, on_progress=on_progress)
    return place_layout(Frame.of(places).scaled(places), points)


def place_layout(places: Float32s, points: int = POINTS, seed: int = 0) -> Positions:
    """The positions of a map of neighbors, by its places."""
    shown = sample_rows(np.flatnonzero(~np.isnan(places[:, 0])), points, seed)
    return Positions("neighbors", places, shown, ())


def place_new_documents(places: Float32s, index: Index, vectors: Float32s) -> Float32s:
    """The places of new documents: the middle (median) of their nearest neighbors' places.

    A mean would put one whose neighbors stand in two groups into the gap between them. A document
    without a vector has no place.

    Parameters
    ----------
    places
        The places of the documents of an index; NaN for those that have none.
    index
        Their vectors.
    vectors
        Those of the new documents.
    """
    from deltavec.search.tsne.layout import rows_with_direction

    known = ~np.isnan(places[:, 0])
    found = np.full((len(vectors), 2), np.nan, np.float32)
    there = np.flatnonzero(rows_with_direction(vectors))
    if known.any() and len(there):
        near = index.search(vectors[there], SPEAKING, where=known)
        around = places[near.ids]
        same = near.scores[:, :1] >= EQUAL  # equal documents stand in one place
        found[there] = np.where(same, around[:, 0], np.median(around, axis=1))
    return found


def sample_rows(rows: Int64s, points: int, seed: int) -> Int64s:
    """The rows to show: all of them, or so many drawn at random, in their order."""
    if len(rows) <= points:
        return rows
    drawn = np.random.default_rng(seed).choice(len(rows), points, replace=False, shuffle=False)
    return rows[np.sort(drawn)]


class Frame(NamedTuple):
    """The piece of the plane that holds all places: its middle, and how far it goes from there."""

    middle: Float64s
    reach: float

    @classmethod
    def of(cls, places: Float64s) -> Frame:
        """The frame of these places; both axes have one scale."""
        if not len(places) or np.isnan(places).all():
            return cls(np.zeros(2), 1.0)
        low, high = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
        return cls((low + high) / 2, float((high - low).max()) / 2 or 1.0)

    def scaled(self, places: Float64s) -> Float32s:
        """The places, between -1 and 1, however small the frame is and however it is rounded."""
        moved: Float64s = np.clip((places - self.middle) / self.reach, -1, 1)
        return moved.astype(np.float32)


@one_blas_thread()
def pca(vectors: Float32s, points: int, seed: int) -> Positions:
    """All documents along the first two principal axes of the shown ones."""
    from deltavec.search.tsne.layout import principal_axes, project

    shown = sample_rows(np.arange(len(vectors)), points, seed)
    mean, axes, variances = principal_axes(vectors[shown])
    places = project(vectors, mean, axes)
    total = float(variances.sum())
    shares = (float(value) / total if total > 0 else 0.0 for value in variances[:2])
    frame = Frame.of(places)
    return Positions("pca", frame.scaled(places), shown, tuple(shares), Axes(mean, axes, *frame))
