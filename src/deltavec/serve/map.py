"""The collection in two dimensions: where each document stands.

PCA is the default: two directions in which the documents differ most, found from a sample and
applied to all. UMAP shows groups better and distances worse, takes longer, and needs
``umap-learn``; it places the sample only.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.errors import InputError, MissingDependencyError

ROWS_AT_ONCE = 65_536  # of vectors that may be larger than memory
DIGITS = 4  # of a coordinate between -1 and 1: finer than a screen


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
    """

    method: str
    places: npt.NDArray[np.float32]
    shown: npt.NDArray[np.int64]
    explained: tuple[float, ...]

    def of(self, row: int) -> tuple[float, float] | None:
        """Where one document stands, if it was placed."""
        x, y = (float(value) for value in self.places[row])
        return None if np.isnan(x) else (round(x, DIGITS), round(y, DIGITS))


def positions(
    vectors: npt.NDArray[np.float32], method: str = "pca", *, points: int = 50_000, seed: int = 0
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
    places, explained = METHODS[method](vectors, shown, seed)
    return Positions(method, scaled(places), shown, explained)


def sampled(rows: int, points: int, seed: int) -> npt.NDArray[np.int64]:
    """The rows to show: all of them, or so many drawn at random, in their order."""
    if rows <= points:
        return np.arange(rows)
    drawn = np.random.default_rng(seed).choice(rows, points, replace=False, shuffle=False)
    return np.sort(drawn)


def scaled(places: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """The places moved to the middle and brought between -1 and 1, both axes by one factor."""
    if not len(places) or np.isnan(places).all():
        return places.astype(np.float32)
    low, high = np.nanmin(places, axis=0), np.nanmax(places, axis=0)
    reach = float((high - low).max()) / 2 or 1.0
    moved: npt.NDArray[np.float64] = (places - (low + high) / 2) / reach
    return moved.astype(np.float32)


Placed = tuple[npt.NDArray[np.float64], tuple[float, ...]]


def pca(vectors: npt.NDArray[np.float32], shown: npt.NDArray[np.int64], seed: int) -> Placed:
    """All documents along the two directions in which the shown ones differ most."""
    sample = vectors[shown].astype(np.float64)
    mean = sample.mean(axis=0) if len(sample) else np.zeros(vectors.shape[1])
    centred = sample - mean
    variances, directions = np.linalg.eigh(centred.T @ centred / max(len(sample), 1))
    axes = directions[:, ::-1][:, :2]
    # The sign of an eigenvector is arbitrary: its largest entry is made positive.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    places = np.zeros((len(vectors), 2))
    for rows in blocks(len(vectors)):
        places[rows, : axes.shape[1]] = (vectors[rows] - mean) @ axes
    total = float(variances.sum())
    shares = (float(value) / total if total > 0 else 0.0 for value in variances[::-1][:2])
    return places, tuple(shares)


def umap(vectors: npt.NDArray[np.float32], shown: npt.NDArray[np.int64], seed: int) -> Placed:
    """The shown documents as UMAP puts them."""
    try:
        umap_learn = import_module("umap")
    except ImportError:
        raise MissingDependencyError(
            "a UMAP map needs umap-learn: pip install umap-learn"
        ) from None
    places = np.full((len(vectors), 2), np.nan)
    if len(shown) > 4:  # fewer have no neighbours to keep
        neighbours = min(15, len(shown) - 1)
        reducer = umap_learn.UMAP(
            metric="cosine", n_neighbors=neighbours, random_state=seed, n_jobs=1
        )
        places[shown] = reducer.fit_transform(np.asarray(vectors[shown]))
        return places, ()
    return pca(vectors, shown, seed)


METHODS = {"pca": pca, "umap": umap}


def blocks(rows: int) -> Iterator[slice]:
    """The rows, so many at a time."""
    for first in range(0, rows, ROWS_AT_ONCE):
        yield slice(first, first + ROWS_AT_ONCE)
