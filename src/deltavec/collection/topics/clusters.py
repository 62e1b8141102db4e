r"""Clusters of similar documents by k-means: how many, which documents, and wider levels.

**How many.** A number of clusters is as good as it is stable. Clusters are learned from one half of
a sample and from the other, and both label the whole sample; the adjusted Rand index says how far
they agree beyond chance, as a mean over three splits. From the most stable number on, larger ones
are taken as long as they are at least .85 as stable. Few clusters are always stable, whatever the
documents, so numbers below 8 are tried only for few documents.

**Levels.** Clusters of the finest level are merged by Ward's rule on their centroids, so that a
wider cluster is made of whole ones. Of n clusters in L levels, level l from the top has about
:math:`n^{l/L}`.

`topics` gives a table of documents, each with its topic, or several, and what these are called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.collection.topics.names import group_names, mean_directions
from deltavec.core.arguments import require_whole
from deltavec.core.arrays import Float32s, Float64s, Int32s, Int64s, blocks
from deltavec.core.threads import one_blas_thread
from deltavec.errors import InputError
from deltavec.notebook import table
from deltavec.search.tsne.layout import rows_with_direction

if TYPE_CHECKING:
    from sklearn.cluster import MiniBatchKMeans

    from deltavec.collection.collection import Collection
    from deltavec.core.model import EmbeddingModel
    from deltavec.search import Index

ROWS_TO_LEARN = 200_000  # of a larger collection a sample
NUMBERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
USUAL_LEAST = 8
FEWEST_MEMBERS = 10  # of a cluster, on average
NEARLY_BEST = 0.85
SAMPLE = 6_000  # documents that are looked at
SPLITS = 3
MOST_LEVELS = 3
FEWEST_CLUSTERS = 2  # of a level; one cluster would be all documents


@dataclass(frozen=True, eq=False, repr=False)
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

    Examples
    --------
    >>> found = news.cluster(3)
    >>> found
    Clusters(3 clusters: 6 fires, homes, bush; 3 shares, interest, rose; 3 cricket, test, play)
    >>> found.labels.tolist()
    [0, 0, 0, 0, 0, 0, 2, 2, 2, 1, 1, 1]
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

    def __repr__(self) -> str:
        named = [f"{size} {', '.join(name[:3])}" for size, name in self._named()[:5]]
        more = "; ..." if len(self) > 5 else ""
        return f"Clusters({len(self)} clusters: {'; '.join(named)}{more})"

    def _repr_html_(self) -> str:
        rows: list[tuple[Any, ...]] = [
            (number, size, ", ".join(name), f"{self.cohesion[number]:.2f}")
            for number, (size, name) in enumerate(self._named())
        ]
        return table(f"{len(self)} clusters", ("#", "documents", "words", "cosine"), rows)

    def _named(self) -> list[tuple[int, list[str]]]:
        return list(zip(self.sizes, self.names, strict=True))

    @property
    def parents(self) -> list[int]:
        """The group one level up that holds each group; empty at the top."""
        if self.wider is None:
            return []
        _, firsts = np.unique(self.labels, return_index=True)
        return [int(self.wider.labels[row]) for row in firsts if self.labels[row] >= 0]


def describe(collection: Collection, labels: Int32s, *, words: int, reason: str) -> Clusters:
    """Groups by the label of each document, which are numbered from the largest on."""
    vectors = collection.index.vectors
    groups = int(labels.max(initial=-1)) + 1
    directions = mean_directions(vectors, labels, groups)
    names = group_names(collection, labels, words=words)
    return with_members(collection, labels, names, directions, reason)


def with_members(
    collection: Collection,
    labels: Int32s,
    names: list[list[str]],
    directions: Float64s,
    reason: str,
) -> Clusters:
    """Groups of these names and directions, and what their members say of them."""
    cosines = own_cosines(collection.index, labels, directions)
    members = [np.flatnonzero(labels == group) for group in range(len(directions))]
    sizes = [len(rows) for rows in members]
    central = collection.ids.take([rows[np.argmax(cosines[rows])] for rows in members])
    cohesion = [float(cosines[rows].mean()) for rows in members]
    return Clusters(
        labels, names, sizes, central.to_pylist(), cohesion, directions, cosines, reason
    )  # fmt: skip


def recluster(
    collection: Collection, names: list[list[str]], directions: Float64s, reason: str
) -> Clusters | None:
    """The documents of a collection in groups that were found earlier, each in the nearest.

    A group that has no members any more is left out; None if none has.
    """
    nearest = np.full(len(collection), -1, np.int32)
    with one_blas_thread():
        for part, vectors in collection.index.blocks():
            near = (vectors @ directions.T).argmax(axis=1)
            nearest[part] = np.where(vectors.any(axis=1), near, -1)
    filled = np.unique(nearest[nearest >= 0])
    if not len(filled):
        return None
    labels = np.where(nearest < 0, -1, np.searchsorted(filled, nearest)).astype(np.int32)
    left = [names[group] for group in filled]
    return with_members(collection, labels, left, directions[filled], reason)


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


def own_cosines(index: Index, labels: Int32s, directions: Float64s) -> Float64s:
    """The cosine of each document with the direction of its group; 0 if it is in none."""
    cosines = np.zeros(len(labels))
    for rows, vectors in index.blocks():
        here = np.maximum(labels[rows], 0)
        products = np.einsum("ij,ij->i", vectors, directions[here])
        cosines[rows] = np.where(labels[rows] < 0, 0.0, products)
    return cosines


def cluster(
    collection: Collection, n: int | None, *, levels: int, seed: int, words: int
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
    count, reason = (n, "as asked for") if n else best_k(vectors[there], seed)
    labels = group_rows(vectors, there, count, seed)
    finest = describe(collection, labels, words=words, reason=reason)
    return merge_levels(collection, finest, levels, words=words)


def best_k(vectors: Float32s, seed: int) -> tuple[int, str]:
    """The number of clusters that suits documents with these vectors, and the reason."""
    tried = numbers_to_try(len(vectors))
    if len(tried) == 1:
        return tried[0], f"{len(vectors):,} documents are too few for more"
    drawn = np.random.default_rng(seed).permutation(len(vectors))[:SAMPLE]
    stable = [agreement(vectors[drawn], count, seed) for count in tried]
    chosen = int(np.argmax(stable))
    while chosen + 1 < len(tried) and stable[chosen + 1] >= NEARLY_BEST * max(stable):
        chosen += 1
    listed = ", ".join(f"{count} ({one:.2f})" for count, one in zip(tried, stable, strict=True))
    return tried[chosen], f"the most that are nearly as stable as any: {listed}"


def numbers_to_try(documents: int) -> list[int]:
    """The numbers of groups that so many documents could have."""
    most = documents // FEWEST_MEMBERS
    tried = [number for number in NUMBERS if number <= most]
    usual = [number for number in tried if number >= USUAL_LEAST]
    return usual or tried or [min(NUMBERS[0], documents)]


@one_blas_thread()
def agreement(vectors: Float32s, count: int, seed: int) -> float:
    """How far clusters of two samples agree on all documents: the mean adjusted Rand index."""
    from sklearn.metrics import adjusted_rand_score

    found = []
    for split in range(SPLITS):
        order = np.random.default_rng(seed + split).permutation(len(vectors))
        parts = vectors[order[::2]], vectors[order[1::2]]
        labels = [k_means(part, count, seed=seed, starts=3).predict(vectors) for part in parts]
        found.append(float(adjusted_rand_score(*labels)))
    return float(np.mean(found))


def merge_levels(collection: Collection, finest: Clusters, levels: int, *, words: int) -> Clusters:
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
        narrow = describe(collection, largest_first(labels), words=words, reason=reason)
        made.append(narrow)
    widest = made.pop()
    while made:
        widest = replace(made.pop(), wider=widest)
    return widest


NAME_WORDS = 3


def topics(
    documents: Any,
    n: int | None = None,
    *,
    model: EmbeddingModel | None = None,
    id_column: str | None = None,
    levels: int = 1,
    per_document: int = 1,
    seed: int = 0,
) -> pa.Table:
    """A table of documents with their topics: groups of like ones, named by their words.

    Parameters
    ----------
    documents
        A `Collection`, or whatever `deltavec.read_corpus` reads: a file, a list of strings, a
        frame.
    n
        How many topics; by default as many as are stable.
    model
        For documents that are no collection: a fitted model; by default one is fitted on them.
    id_column
        For documents that are no collection: the column with their ids; else their numbers.
    levels
        2 or 3 to join like topics to wider ones.
    per_document
        How many topics to give for each document, nearest first.
    seed
        For the random part: the same seed gives the same topics.

    Returns
    -------
    pyarrow.Table
        ``id``; ``rank`` from 1 on, if several topics are asked for; ``cluster``, the number of the
        topic; ``name``; ``cosine`` with its direction; and ``cluster_2``, ``name_2``,
        ``cluster_3``, ``name_3`` of wider topics. Null for a document without a vector.

    Examples
    --------
    >>> texts = ["a bay by the sea", "the sea, a beach"] * 9 + ["a bed and a lamp", "lamp, bed"] * 9
    >>> topics(texts, 2).column_names
    ['id', 'cluster', 'name', 'cosine']
    """
    from deltavec.collection.analysis import as_collection

    require_whole("per_document", per_document)
    with as_collection(documents, model, id_column) as opened:
        found = opened.cluster(n, levels=levels, seed=seed, words=NAME_WORDS)
        return topic_table(opened, found, per_document)


def topic_name(words: Sequence[str]) -> str:
    """What a topic is called: its first words."""
    return ", ".join(words[:NAME_WORDS])


def topic_table(collection: Collection, found: Clusters, per_document: int = 1) -> pa.Table:
    """Each document with its topics, as `topics` gives them."""
    parts = zip(*nearest_topics(collection, found, per_document), strict=True)
    rows, ranks, numbers, cosines = (np.concatenate(part) for part in parts)
    missing = numbers < 0
    table = {"id": collection.ids.take(pa.array(rows))}
    if per_document > 1:
        table["rank"] = pa.array(ranks.astype(np.int32))
    level, suffix = found, ""
    while True:
        topic = pa.array(numbers.astype(np.int32), mask=missing)
        names = pa.array([topic_name(words) for words in level.names], pa.string())
        table |= {f"cluster{suffix}": topic, f"name{suffix}": names.take(topic)}
        if level is found:
            table["cosine"] = pa.array(cosines.astype(np.float32), mask=missing)
        if level.wider is None:
            return pa.table(table)
        numbers = np.array([*level.parents, -1])[numbers]  # -1 stays what it is
        level, suffix = level.wider, f"_{int(suffix[1:] or 1) + 1}"


def nearest_topics(
    collection: Collection, found: Clusters, count: int
) -> Iterator[tuple[Int64s, Int64s, Int64s, Float64s]]:
    """The topics of all documents, a block at a time: rows, ranks, topics and cosines.

    The first is the document's own; then come the nearest others, as long as the cosine is above 0.
    """
    vectors = collection.index.vectors
    count = min(count, len(found))
    for part in blocks(len(vectors)):
        own, cosines = found.labels[part].astype(np.int64), found.cosines[part]
        with one_blas_thread():
            products = vectors[part] @ found.directions.T
        there = np.arange(len(own))
        products[there, np.maximum(own, 0)] = np.inf  # its own comes first, whatever rounding says
        order = np.argsort(-products, axis=1, kind="stable")[:, :count]
        near = np.take_along_axis(products, order, axis=1)
        order[:, 0], near[:, 0] = own, cosines
        kept = (near > 0) & (own >= 0)[:, None]
        kept[:, 0] = True
        rows = np.broadcast_to((part.start + there)[:, None], order.shape)
        ranks = np.broadcast_to(np.arange(1, count + 1), order.shape)
        yield rows[kept], ranks[kept], order[kept], near[kept]
