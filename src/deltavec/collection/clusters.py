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

from deltavec.core.explain import dissected
from deltavec.errors import InputError

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection
    from deltavec.core.model import EmbeddingModel

ROWS_AT_ONCE = 65_536
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
    """

    labels: npt.NDArray[np.int32]
    names: list[list[str]]
    sizes: list[int]
    central_ids: list[str]
    cohesion: list[float]
    named_from: int

    def __len__(self) -> int:
        return len(self.sizes)


def clustered(collection: Collection, n: int, *, seed: int, words: int) -> Clusters:
    """The documents of a collection in n groups; see `Collection.cluster`."""
    vectors = collection.index.vectors
    there = np.concatenate([block.any(axis=1) for _, block in blocks(vectors)])
    if n > int(there.sum()):
        raise InputError(
            f"cannot make {n} clusters of {int(there.sum()):,} documents that have a vector: "
            "ask for fewer"
        )
    labels = grouped(vectors, there, n, seed)
    directions = mean_directions(vectors, labels, n)
    middle, cohesion = nearest(vectors, labels, directions)
    sizes = np.bincount(labels[there], minlength=len(directions)).tolist()
    rng = np.random.default_rng(seed)
    most = max(FEWEST_TO_NAME, min(MEMBERS_TO_NAME, TEXTS_TO_NAME // n))
    members = [sample(labels, group, most, rng) for group in range(len(directions))]
    return Clusters(
        labels,
        common_words(collection, members, sizes, directions, words),
        sizes,
        collection.ids.take(middle).to_pylist(),
        cohesion,
        most,
    )


def blocks(
    vectors: npt.NDArray[np.float32],
) -> list[tuple[slice, npt.NDArray[np.float32]]]:
    """The vectors some rows at a time."""
    firsts = range(0, len(vectors), ROWS_AT_ONCE)
    places = [slice(first, first + ROWS_AT_ONCE) for first in firsts]
    return [(place, vectors[place]) for place in places]


def grouped(
    vectors: npt.NDArray[np.float32], there: npt.NDArray[np.bool_], n: int, seed: int
) -> npt.NDArray[np.int32]:
    """The group of each document, -1 where there is no vector; the largest group is 0."""
    from sklearn.cluster import MiniBatchKMeans

    rows = np.flatnonzero(there)
    if len(rows) > ROWS_TO_LEARN:
        rows = np.sort(np.random.default_rng(seed).choice(rows, ROWS_TO_LEARN, replace=False))
    groups = MiniBatchKMeans(
        n, random_state=seed, n_init=3, batch_size=4096, reassignment_ratio=0.0
    ).fit(vectors[rows])
    found = np.concatenate([groups.predict(block) for _, block in blocks(vectors)])
    sizes = np.bincount(found[there], minlength=n)
    order = np.argsort(-sizes, kind="stable")
    numbers = np.empty(n, np.int32)
    numbers[order] = np.arange(n)
    return np.where(there, numbers[found], -1).astype(np.int32)


def mean_directions(
    vectors: npt.NDArray[np.float32], labels: npt.NDArray[np.int32], n: int
) -> npt.NDArray[np.float64]:
    """The direction of the mean of each group that has members."""
    sums = np.zeros((n, vectors.shape[1]))
    for place, block in blocks(vectors):
        here = labels[place]
        for group in np.unique(here[here >= 0]):
            sums[group] += block[here == group].sum(axis=0, dtype=np.float64)
    sums = sums[: int(labels.max()) + 1]  # groups without members come last
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return sums / np.where(lengths > 0, lengths, 1)


def nearest(
    vectors: npt.NDArray[np.float32],
    labels: npt.NDArray[np.int32],
    directions: npt.NDArray[np.float64],
) -> tuple[npt.NDArray[np.int64], list[float]]:
    """The member nearest to each group's direction, and the mean cosine of all members."""
    cosines = np.zeros(len(vectors))
    for place, block in blocks(vectors):
        here = np.maximum(labels[place], 0)
        cosines[place] = np.einsum("ij,ij->i", block, directions[here])
    members = [np.flatnonzero(labels == group) for group in range(len(directions))]
    middle = [int(rows[np.argmax(cosines[rows])]) for rows in members]
    return np.array(middle, np.int64), [float(cosines[rows].mean()) for rows in members]


def sample(
    labels: npt.NDArray[np.int32], group: int, most: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """So many members of a group, all if there are no more."""
    members = np.flatnonzero(labels == group)
    if len(members) <= most:
        return members
    return np.sort(rng.choice(members, most, replace=False))


def common_words(
    collection: Collection,
    members: list[npt.NDArray[np.int64]],
    sizes: list[int],
    directions: npt.NDArray[np.float64],
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
    weights = [mean_weights(collection.model, list(islice(texts, len(one)))) for one in members]
    everywhere: defaultdict[int, float] = defaultdict(float)
    for group, size in zip(weights, sizes, strict=True):
        for word, weight in group.items():
            everywhere[word] += weight * size / sum(sizes)
    model = collection.model
    names = []
    for group, direction in zip(weights, directions, strict=True):
        ids = np.array(list(group), np.int64)
        more = np.array([weight - everywhere[word] for word, weight in group.items()])
        shares = np.maximum(more, 0) * (model.folded.rows[ids] @ direction)
        strongest = np.argsort(-shares, kind="stable")[:count]
        names.append([model.vocabulary.word(int(ids[i])) for i in strongest if shares[i] > 0])
    return names


def mean_weights(model: EmbeddingModel, texts: list[str]) -> dict[int, float]:
    """The mean weight of each word over some documents, by the word's id."""
    total: defaultdict[int, float] = defaultdict(float)
    for text in texts:
        apart = dissected(model.words(text), model.vocabulary, model.folded)
        for word, weight in zip(apart.ids.tolist(), apart.weights.tolist(), strict=True):
            total[word] += weight / len(texts)
    return dict(total)
