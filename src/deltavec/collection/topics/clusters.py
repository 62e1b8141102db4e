r"""Clusters of similar documents by k-means: how many, which documents, and wider levels.

**How many.** Clusters are learned from one half of the documents, or of a sample, and judged on the
other. With :math:`c_1` the cosine of a document with the nearest centroid and :math:`c_2` that with
the next,

.. math:: s = \frac{c_1 - c_2}{1 - c_2}

is 0 on the border of a cluster and 1 in its middle. The largest number is taken whose mean of s is
at most a twentieth below the best. Few clusters always score well, whatever the documents, so
numbers below 8 are tried only for few documents.

**Levels.** Clusters of the finest level are merged by Ward's rule on their centroids, so that a
wider cluster is made of whole ones. Of n clusters in L levels, level l from the top has about
:math:`n^{l/L}`.

**Smoothing.** Documents may be moved towards their neighbors first,

.. math:: u'_d \propto u_d + \tfrac12 \cdot \tfrac1{10} \sum_{n \in N(d)} u_n,

with N(d) the ten documents most similar to d (experiments/beyond).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from deltavec.collection.topics.names import group_names, mean_directions
from deltavec.core.arguments import require_whole
from deltavec.core.arrays import Float32s, Float64s, Int32s, blocks
from deltavec.core.threads import one_blas_thread
from deltavec.core.vectors import normalize_rows
from deltavec.errors import InputError
from deltavec.search.tsne.layout import nearest_rows, rows_with_direction

if TYPE_CHECKING:
    from sklearn.cluster import MiniBatchKMeans

    from deltavec.collection.collection import Collection

ROWS_TO_LEARN = 200_000  # of a larger collection a sample
NUMBERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
USUAL_LEAST = 8
FEWEST_MEMBERS = 10  # of a cluster, on average
NEARLY_BEST = 0.95
SAMPLE = 10_000  # documents that are looked at
MOST_LEVELS = 3
FEWEST_CLUSTERS = 2  # of a level; one cluster would be all documents
NEIGHBORS = 10
SHARE = 0.5


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
    members = [np.flatnonzero(labels == group) for group in range(len(directions))]
    sizes = [len(rows) for rows in members]
    central = collection.ids.take([rows[np.argmax(cosines[rows])] for rows in members])
    cohesion = [float(cosines[rows].mean()) for rows in members]
    return Clusters(
        labels, names, sizes, central.to_pylist(), cohesion, directions, cosines, reason
    )  # fmt: skip


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
    return rows_with_direction(vectors)


def group_rows(vectors: Float32s, there: npt.NDArray[np.bool_], n: int, seed: int) -> Int32s:
    """The group of each document, -1 where there is no vector; the largest group is 0.

    There are fewer groups than n if there are fewer different documents.
    """
    rows = np.flatnonzero(there)
    if len(rows) > ROWS_TO_LEARN:
        rows = np.sort(np.random.default_rng(seed).choice(rows, ROWS_TO_LEARN, replace=False))
    with one_blas_thread():
        groups = k_means(vectors[rows], n, seed=seed, starts=3)
        found = np.concatenate([groups.predict(vectors[part]) for part in blocks(len(vectors))])
    return largest_first(np.where(there, found, -1).astype(np.int32))


def k_means(rows: npt.NDArray[np.floating], n: int, *, seed: int, starts: int) -> MiniBatchKMeans:
    """The centroids of n clusters of rows, the best of some random starts."""
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(
        n, random_state=seed, n_init=starts, batch_size=4096, reassignment_ratio=0.0
    ).fit(rows)


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


def cluster(
    collection: Collection, n: int | None, *, levels: int, seed: int, words: int, smooth: bool
) -> Clusters:
    """The documents of a collection in groups; see `Collection.cluster`."""
    if n is not None:
        require_whole("n", n)
    require_whole("words", words)
    require_whole("levels", levels)
    if levels > MOST_LEVELS:
        raise InputError(f"levels must be from 1 to {MOST_LEVELS}, got {levels}")
    vectors = collection.index.vectors
    there = with_vector(vectors)
    documents = int(there.sum())
    if max(n or 1, 1) > documents:
        raise InputError(
            f"cannot make {n or 'any'} clusters of {documents:,} documents that have a vector: "
            + ("ask for fewer" if documents else "all of them are out of vocabulary, or equal")
        )
    if smooth:
        vectors = smooth_rows(vectors, there)
    count, reason = (n, "as asked for") if n else best_k(vectors[there], seed)
    labels = group_rows(vectors, there, count, seed)
    finest = describe(collection, labels, words=words, seed=seed, reason=reason)
    return merge_levels(collection, finest, levels, words=words, seed=seed)


def best_k(vectors: Float32s, seed: int) -> tuple[int, str]:
    """The number of clusters that suits documents with these vectors, and the reason."""
    tried = numbers_to_try(len(vectors))
    if len(tried) == 1:
        return tried[0], f"{len(vectors):,} documents are too few for more"
    drawn = np.random.default_rng(seed).permutation(len(vectors))[:SAMPLE]
    a, b = vectors[np.sort(drawn[::2])], vectors[np.sort(drawn[1::2])]
    apart = [(separation(a, b, count, seed) + separation(b, a, count, seed)) / 2 for count in tried]
    enough = [place for place, s in enumerate(apart) if s >= NEARLY_BEST * max(apart)]
    listed = ", ".join(f"{count} ({s:.2f})" for count, s in zip(tried, apart, strict=True))
    return tried[enough[-1]], f"the most that stand apart nearly as well as any: {listed}"


def numbers_to_try(documents: int) -> list[int]:
    """The numbers of groups that so many documents could have."""
    most = documents // FEWEST_MEMBERS
    tried = [number for number in NUMBERS if number <= most]
    usual = [number for number in tried if number >= USUAL_LEAST]
    return usual or tried or [min(NUMBERS[0], documents)]


@one_blas_thread()
def separation(learned: Float32s, seen: Float32s, count: int, seed: int) -> float:
    """The mean of s over some documents, for groups that were learned from others."""
    labels = group_rows(learned, np.ones(len(learned), bool), count, seed)
    directions = mean_directions(learned, labels, int(labels.max()) + 1)
    if len(directions) < 2:
        return 0.0
    cosines = seen @ directions.T
    cosines.partition(len(directions) - 2, axis=1)
    first, second = cosines[:, -1], cosines[:, -2]
    # Equal directions leave nothing between them; rounding may put a cosine above 1.
    return float(((first - second) / np.maximum(1 - second, 1e-6)).mean())


def merge_levels(
    collection: Collection, finest: Clusters, levels: int, *, words: int, seed: int
) -> Clusters:
    """The finest groups, and wider ones above them; fewer levels where there are too few groups."""
    from scipy.cluster import hierarchy

    narrow = finest
    made: list[Clusters] = [finest]
    for level in range(levels - 1, 0, -1):
        count = round(len(finest) ** (level / levels))
        if not FEWEST_CLUSTERS <= count < len(narrow):
            continue
        tree = hierarchy.linkage(narrow.directions, "ward")
        parents = hierarchy.fcluster(tree, count, "maxclust").astype(np.int64) - 1
        labels = np.where(narrow.labels < 0, -1, parents[narrow.labels]).astype(np.int32)
        reason = f"{len(narrow)} groups joined, about {len(narrow) / count:.1f} in each"
        narrow = describe(collection, largest_first(labels), words=words, seed=seed, reason=reason)
        made.append(narrow)
    widest = made.pop()
    while made:
        widest = replace(made.pop(), wider=widest)
    return widest


@one_blas_thread()
def smooth_rows(vectors: Float32s, there: npt.NDArray[np.bool_]) -> Float32s:
    """The vectors, those that are there moved towards their neighbors, at unit length again."""
    own = np.flatnonzero(there)
    rows = np.ascontiguousarray(vectors[own], np.float32)
    count = min(NEIGHBORS, len(rows) - 1)
    moved = np.zeros(vectors.shape, np.float32)
    near = nearest_rows(rows, count) if count > 0 else np.zeros((len(rows), 0), np.int64)
    for part in blocks(len(rows)):
        sums = rows[part].astype(np.float64)
        for neighbor in near[part].T:
            sums += rows[neighbor] * (SHARE / count)
        moved[own[part]] = normalize_rows(sums, np.linalg.norm(sums, axis=1))
    return moved
