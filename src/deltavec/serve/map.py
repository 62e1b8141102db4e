"""The collection in two dimensions: where each document stands.

PCA is the default: two directions in which the documents differ most, found from a sample and
applied to all. UMAP shows groups better and distances worse, takes longer, and needs
``umap-learn``; it places the sample only.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import blocks, signs_fixed
from deltavec.core.kernels import Float32s, Float64s, Int64s
from deltavec.core.threads import one_blas_thread
from deltavec.errors import InputError, needing

DIGITS = 4  # of a coordinate between -1 and 1: finer than a screen


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

    def places(self, vectors: Float32s) -> Float32s:
        """Where documents stand on the map; those beyond its edge stand on it."""
        plane = on_plane(vectors, self.mean, self.directions)
        return np.clip((plane - self.middle) / self.reach, -1, 1).astype(np.float32)


class Positions(NamedTuple):
    """Where documents stand.

    Attributes
    ----------
    method : str
        ``pca`` or ``umap``.
    places : ndarray of float32, shape (documents, 2)
        Between -1 and 1; NaN for a document that was not placed.
    shown : ndarray of int64
        The rows on the map, in their order: all, or a sample.
    explained : tuple of float
        The share of the documents' variance along each axis; empty for UMAP.
    axes : Axes or None
        What places other documents on the same map; None for UMAP, which cannot.
    """

    method: str
    places: Float32s
    shown: Int64s
    explained: tuple[float, ...]
    axes: Axes | None = None

    def of(self, row: int) -> tuple[float, float] | None:
        """Where one document stands, if it was placed."""
        x, y = self.places[row].tolist()
        return None if math.isnan(x) else (round(x, DIGITS), round(y, DIGITS))

    @one_blas_thread()
    def along_axes(self, vectors: Float32s, points: int, seed: int = 0) -> Positions:
        """Where other documents stand, along the axes of this map."""
        if self.axes is None:
            raise InputError("a UMAP map has no axes along which others could be placed")
        shown = sampled(len(vectors), points, seed)
        return self._replace(places=self.axes.places(vectors), shown=shown)

    def kept(self, numbers: Int64s) -> Positions:
        """Where documents stand that had these rows when the map was drawn; -1 has no place."""
        places = np.where((numbers >= 0)[:, None], self.places[numbers], np.float32(np.nan))
        return self._replace(places=places, shown=np.flatnonzero(~np.isnan(places[:, 0])))


@one_blas_thread()
def positions(
    vectors: Float32s, method: str = "pca", *, points: int = 50_000, seed: int = 0
) -> Positions:
    """Where the documents of these vectors stand.

    Parameters
    ----------
    vectors
        One a row; may be memory-mapped.
    method
        ``pca`` or ``umap``.
    points
        How many to show; of more documents a sample is drawn, and the directions come from it.
    seed
        For the sample, and for UMAP.
    """
    if method not in METHODS:
        raise InputError(f"map must be 'pca' or 'umap', got {method!r}")
    shown = sampled(len(vectors), points, seed)
    return METHODS[method](vectors, shown, seed)


def sampled(rows: int, points: int, seed: int) -> Int64s:
    """The rows to show: all of them, or so many drawn at random, in their order."""
    if rows <= points:
        return np.arange(rows)
    drawn = np.random.default_rng(seed).choice(rows, points, replace=False, shuffle=False)
    return np.sort(drawn)


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
        """The places, between -1 and 1."""
        moved: Float64s = (places - self.middle) / self.reach
        return moved.astype(np.float32)


def on_plane(vectors: Float32s, mean: Float64s, directions: Float64s) -> Float64s:
    """The vectors along two directions that cross in a point."""
    places = np.zeros((len(vectors), 2))
    for rows in blocks(len(vectors)):
        places[rows, : directions.shape[1]] = (vectors[rows] - mean) @ directions
    return places


def pca(vectors: Float32s, shown: Int64s, seed: int) -> Positions:
    """All documents along the two directions in which the shown ones differ most."""
    sample = vectors[shown].astype(np.float64)
    mean = sample.mean(axis=0) if len(sample) else np.zeros(vectors.shape[1])
    centred = sample - mean
    variances, directions = np.linalg.eigh(centred.T @ centred / max(len(sample), 1))
    axes = signs_fixed(directions[:, ::-1][:, :2], axis=0)
    places = on_plane(vectors, mean, axes)
    total = float(variances.sum())
    shares = (float(value) / total if total > 0 else 0.0 for value in variances[::-1][:2])
    frame = Frame.of(places)
    return Positions("pca", frame.scaled(places), shown, tuple(shares), Axes(mean, axes, *frame))


def umap(vectors: Float32s, shown: Int64s, seed: int) -> Positions:
    """The shown documents as UMAP puts them."""
    with needing("map", "a UMAP map needs umap-learn"):
        umap_learn = import_module("umap")
    if len(shown) <= 4:  # too few to have neighbours that could be kept
        return pca(vectors, shown, seed)._replace(method="umap")
    places = np.full((len(vectors), 2), np.nan)
    reducer = umap_learn.UMAP(
        metric="cosine", n_neighbors=min(15, len(shown) - 1), random_state=seed, n_jobs=1
    )
    places[shown] = reducer.fit_transform(np.asarray(vectors[shown]))
    return Positions("umap", Frame.of(places).scaled(places), shown, ())


METHODS = {"pca": pca, "umap": umap}
