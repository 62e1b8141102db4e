"""Groups of like documents: which documents, and what each group is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from deltavec.collection.topics.names import group_names, mean_directions
from deltavec.core.arrays import Float32s, Float64s, Int32s, Int64s, blocks
from deltavec.core.threads import one_blas_thread
from deltavec.errors import InputError

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

ROWS_TO_LEARN = 200_000  # from a larger collection, as many are drawn


@dataclass(frozen=True, eq=False)
class Clusters:
    """Documents in groups, the largest first.

    Attributes
    ----------
    labels : ndarray of int32, shape (documents,)
        The number of each document's group; -1 for a document without a vector.
    names : list of list of str
        The words that tell each group from its neighbors, strongest first.
    sizes : list of int
        How many documents each has.
    central_ids : list of str
        The document nearest to the middle of each.
    cohesion : list of float
        The mean cosine of the members with the group's direction.
    directions : ndarray of float64, one row a group
        The direction of each group: that of the mean of its members.
    cosines : ndarray of float64, shape (documents,)
        The cosine of each document with the direction of its group; 0 for one that is in none.
    reason : str
        Why there are so many groups.
    wider : Clusters or None
        The same documents in fewer groups, each made of whole ones of these; None at the top.
    """

    labels: Int32s
    names: list[list[str]]
    sizes: list[int]
    central_ids: list[str]
    cohesion: list[float]
    directions: Float64s
    cosines: Float64s
    reason: str
    wider: Clusters | None = None

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def parents(self) -> list[int]:
        """The group one level up that holds each group; empty at the top."""
        if self.wider is None:
            return []
        _, firsts = np.unique(self.labels, return_index=True)
        return [int(self.wider.labels[row]) for row in firsts if self.labels[row] >= 0]


def describe(
    collection: Collection, labels: Int32s, *, words: int, seed: int, reason: str
) -> Clusters:
    """Groups by the label of each document, which are numbered from the largest on."""
    vectors = collection.index.vectors
    groups = int(labels.max(initial=-1)) + 1
    directions = mean_directions(vectors, labels, groups)
    names = group_names(collection, labels, words=words, seed=seed)
    return with_members(collection, labels, names, directions, reason)


def with_members(
    collection: Collection,
    labels: Int32s,
    names: list[list[str]],
    directions: Float64s,
    reason: str,
) -> Clusters:
    """Groups of these names and directions, and what their members say of them."""
    cosines = own_cosines(collection.index.vectors, labels, directions)
    members = members_of(labels, len(directions))
    return Clusters(
        labels,
        names,
        [len(rows) for rows in members],
        central_ids(collection, members, cosines),
        [float(cosines[rows].mean()) for rows in members],
        directions,
        cosines,
        reason,
    )


def recluster(collection: Collection, before: Clusters) -> Clusters | None:
    """The documents of a collection in groups that were found earlier, each in the nearest.

    Names and directions stay. A group that has no members any more is left out; None if none has.
    """
    vectors = collection.index.vectors
    nearest = np.full(len(vectors), -1, np.int32)
    with one_blas_thread():
        for part in blocks(len(vectors)):
            near = (vectors[part] @ before.directions.T).argmax(axis=1)
            nearest[part] = np.where(vectors[part].any(axis=1), near, -1)
    filled = np.unique(nearest[nearest >= 0])
    if not len(filled):
        return None
    labels = np.where(nearest < 0, -1, np.searchsorted(filled, nearest)).astype(np.int32)
    names = [before.names[group] for group in filled]
    return with_members(collection, labels, names, before.directions[filled], before.reason)


def members_of(labels: Int32s, groups: int) -> list[Int64s]:
    """The documents of each group."""
    return [np.flatnonzero(labels == group) for group in range(groups)]


def central_ids(collection: Collection, members: list[Int64s], cosines: Float64s) -> list[str]:
    """The document of each group that is nearest to its direction."""
    places = [rows[np.argmax(cosines[rows])] for rows in members]
    found: list[str] = collection.ids.take(places).to_pylist()
    return found


def with_vector(vectors: Float32s) -> npt.NDArray[np.bool_]:
    """Which documents have a vector.

    Raises
    ------
    InputError
        If a number among them is none.
    """
    if not all(np.isfinite(vectors[part]).all() for part in blocks(len(vectors))):
        raise InputError(
            "NaN or infinity among the vectors: the collection is damaged; open it with "
            "verify=True to see where"
        )
    none = np.zeros(0, bool)
    return np.concatenate([none, *(vectors[part].any(axis=1) for part in blocks(len(vectors)))])


def group_rows(vectors: Float32s, there: npt.NDArray[np.bool_], n: int, seed: int) -> Int32s:
    """The group of each document, -1 where there is no vector; the largest group is 0.

    There are fewer groups than n if there are fewer different documents.
    """
    from sklearn.cluster import MiniBatchKMeans

    rows = np.flatnonzero(there)
    if len(rows) > ROWS_TO_LEARN:
        rows = np.sort(np.random.default_rng(seed).choice(rows, ROWS_TO_LEARN, replace=False))
    with one_blas_thread():
        groups = MiniBatchKMeans(
            n, random_state=seed, n_init=3, batch_size=4096, reassignment_ratio=0.0
        ).fit(vectors[rows])
        found = np.concatenate([groups.predict(vectors[part]) for part in blocks(len(vectors))])
    return largest_first(np.where(there, found, -1).astype(np.int32))


def largest_first(labels: Int32s) -> Int32s:
    """The same groups without empty ones, numbered from the largest on."""
    found, places, sizes = np.unique(labels[labels >= 0], return_inverse=True, return_counts=True)
    numbers = np.empty(len(found), np.int32)
    numbers[np.argsort(-sizes, kind="stable")] = np.arange(len(found))
    ordered = np.full(len(labels), -1, np.int32)
    ordered[labels >= 0] = numbers[places]
    return ordered


def own_cosines(vectors: Float32s, labels: Int32s, directions: Float64s) -> Float64s:
    """The cosine of each document with the direction of its group; 0 if it is in none."""
    cosines = np.zeros(len(vectors))
    for rows in blocks(len(vectors)):
        here = np.maximum(labels[rows], 0)
        products = np.einsum("ij,ij->i", vectors[rows], directions[here])
        cosines[rows] = np.where(labels[rows] < 0, 0.0, products)
    return cosines
