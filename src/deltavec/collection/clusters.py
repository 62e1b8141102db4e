r"""Groups of like documents, each named by the words that pull its members together.

A document is :math:`u_d = \sum_i \beta_{di} r_i + \ldots`, where :math:`\beta_{di}` is the weight
of word i over the document's length (`deltavec.core.explain`). So the mean cosine of a group's
members with its direction m is a sum over words, and so is that of all documents. The share of a
word in what sets the group apart is the difference,

.. math:: (\bar\beta_i^{\,\mathrm{group}} - \bar\beta_i^{\,\mathrm{all}})\; r_i \cdot m .

Only words that the group has more of name it, not those whose absence sets it apart.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import blocks
from deltavec.core.explain import dissected
from deltavec.core.kernels import Float32s, Float64s, Int32s, Int64s
from deltavec.core.threads import one_blas_thread
from deltavec.core.units.folding import folded_together
from deltavec.core.units.parting import Parted
from deltavec.errors import InputError

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection
    from deltavec.core.model import EmbeddingModel

ROWS_TO_LEARN = 200_000  # from a larger collection, as many are drawn
MEMBERS_TO_NAME = 100  # so many members speak for a group; of very many groups fewer,
TEXTS_TO_NAME = 10_000  # about so many for all groups together, but
FEWEST_TO_NAME = 10


@dataclass(frozen=True, eq=False)
class Clusters:
    """Documents in groups, the largest first.

    Attributes
    ----------
    labels : ndarray of int32, shape (documents,)
        The number of each document's group; -1 for a document without a vector.
    names : list of list of str
        The words that pull each group together, strongest first.
    sizes : list of int
        How many documents each has.
    central_ids : list of str
        The document nearest to the middle of each.
    cohesion : list of float
        The mean cosine of the members with the group's direction.
    named_from : int
        How many members of a group its name was taken from at most.
    directions : ndarray of float64, one row a group
        The direction of each group: that of the mean of its members.
    """

    labels: Int32s
    names: list[list[str]]
    sizes: list[int]
    central_ids: list[str]
    cohesion: list[float]
    named_from: int
    directions: Float64s

    def __len__(self) -> int:
        return len(self.sizes)


def clustered(collection: Collection, n: int, *, seed: int, words: int) -> Clusters:
    """The documents of a collection in n groups; see `Collection.cluster`."""
    vectors = collection.index.vectors
    there = np.concatenate([vectors[rows].any(axis=1) for rows in blocks(len(vectors))])
    if n > int(there.sum()):
        raise InputError(
            f"cannot make {n} clusters of {int(there.sum()):,} documents that have a vector: "
            "ask for fewer"
        )
    labels = grouped(vectors, there, n, seed)
    directions = mean_directions(vectors, labels, n)
    cosines = own_cosines(vectors, labels, directions)
    members = members_of(labels, len(directions))
    sizes = [len(rows) for rows in members]
    rng = np.random.default_rng(seed)
    most = max(FEWEST_TO_NAME, min(MEMBERS_TO_NAME, TEXTS_TO_NAME // n))
    some = [
        rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))
        for rows in members
    ]
    return Clusters(
        labels,
        common_words(collection, some, sizes, directions, words),
        sizes,
        central_ids(collection, members, cosines),
        [float(cosines[rows].mean()) for rows in members],
        most,
        directions,
    )


def clustered_again(collection: Collection, before: Clusters) -> Clusters | None:
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
    directions = before.directions[filled]
    cosines = own_cosines(vectors, labels, directions)
    members = members_of(labels, len(filled))
    return Clusters(
        labels,
        [before.names[group] for group in filled],
        [len(rows) for rows in members],
        central_ids(collection, members, cosines),
        [float(cosines[rows].mean()) for rows in members],
        before.named_from,
        directions,
    )


def members_of(labels: Int32s, groups: int) -> list[Int64s]:
    """The documents of each group."""
    return [np.flatnonzero(labels == group) for group in range(groups)]


def central_ids(collection: Collection, members: list[Int64s], cosines: Float64s) -> list[str]:
    """The document of each group that is nearest to its direction."""
    places = [rows[np.argmax(cosines[rows])] for rows in members]
    found: list[str] = collection.ids.take(places).to_pylist()
    return found


def grouped(vectors: Float32s, there: npt.NDArray[np.bool_], n: int, seed: int) -> Int32s:
    """The group of each document, -1 where there is no vector; the largest group is 0."""
    from sklearn.cluster import MiniBatchKMeans

    if not all(np.isfinite(vectors[part]).all() for part in blocks(len(vectors))):
        raise InputError(
            "NaN or infinity among the vectors: the collection is damaged; open it with "
            "verify=True to see where"
        )
    rows = np.flatnonzero(there)
    if len(rows) > ROWS_TO_LEARN:
        rows = np.sort(np.random.default_rng(seed).choice(rows, ROWS_TO_LEARN, replace=False))
    with one_blas_thread():
        groups = MiniBatchKMeans(
            n, random_state=seed, n_init=3, batch_size=4096, reassignment_ratio=0.0
        ).fit(vectors[rows])
        found = np.concatenate([groups.predict(vectors[part]) for part in blocks(len(vectors))])
    sizes = np.bincount(found[there], minlength=n)
    order = np.argsort(-sizes, kind="stable")
    numbers = np.empty(n, np.int32)
    numbers[order] = np.arange(n)
    return np.where(there, numbers[found], -1).astype(np.int32)


def mean_directions(vectors: Float32s, labels: Int32s, n: int) -> Float64s:
    """The direction of the mean of each group that has members."""
    sums = np.zeros((n, vectors.shape[1]))
    for rows in blocks(len(vectors)):
        here = labels[rows]
        for group in np.unique(here[here >= 0]):
            sums[group] += vectors[rows][here == group].sum(axis=0, dtype=np.float64)
    sums = sums[: int(labels.max()) + 1]  # groups without members come last
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return sums / np.where(lengths > 0, lengths, 1)


def own_cosines(vectors: Float32s, labels: Int32s, directions: Float64s) -> Float64s:
    """The cosine of each document with the direction of its group."""
    cosines = np.zeros(len(vectors))
    for rows in blocks(len(vectors)):
        here = np.maximum(labels[rows], 0)
        cosines[rows] = np.einsum("ij,ij->i", vectors[rows], directions[here])
    return cosines


def common_words(
    collection: Collection,
    members: list[Int64s],
    sizes: list[int],
    directions: Float64s,
    count: int,
) -> list[list[str]]:
    """The words that set each group apart: see the equation above.

    Parameters
    ----------
    collection
        Where the documents are.
    members
        The documents that speak for each group.
    sizes
        How many documents each group has.
    directions
        The direction of each.
    count
        How many words to name.
    """
    # All at once: each part of a file is read once, not once for each group.
    texts = iter(collection.documents(np.concatenate(members)).column("text").to_pylist())
    model = collection.model
    parts = [[model.parted(text) for text in islice(texts, len(one))] for one in members]
    weights = [mean_weights(model, part) for part in parts]
    everywhere: defaultdict[int, float] = defaultdict(float)
    for group, size in zip(weights, sizes, strict=True):
        for word, weight in group.items():
            everywhere[word] += weight * size / sum(sizes)
    names = []
    for group, part, direction in zip(weights, parts, directions, strict=True):
        ids = np.array(list(group), np.int64)
        more = np.array([weight - everywhere[word] for word, weight in group.items()])
        own = folded_together(part, model.vocabulary, ids)
        shares = own.onto_words(np.maximum(more, 0) * (model.folded.rows[ids] @ direction))
        strongest = np.argsort(-shares, kind="stable")[:count]
        names.append([own.words[i] for i in strongest if shares[i] > 0])
    return names


def mean_weights(model: EmbeddingModel, documents: list[Parted]) -> dict[int, float]:
    """The mean weight of each unit over some documents, by its id."""
    total: defaultdict[int, float] = defaultdict(float)
    for document in documents:
        apart = dissected(document, model.vocabulary, model.folded)
        for word, weight in zip(apart.ids.tolist(), apart.weights.tolist(), strict=True):
            total[word] += weight / len(documents)
    return dict(total)
