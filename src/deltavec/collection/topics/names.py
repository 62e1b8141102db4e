r"""What groups of documents are called: the words that tell each from its neighbors.

With :math:`p_{ig}` the share of the documents of group g that hold word i, :math:`\bar p_{ig}` its
share of all others, h the group nearest to g, and :math:`m_g` the direction of g,

.. math:: \mathrm{worth}_{ig} = p_{ig}\, \tfrac{1}{2}\left(\ln\frac{p_{ig}}{\bar p_{ig}}
          + \ln\frac{p_{ig}}{p_{ih}}\right) \cos(w_i, m_g) .

The first factor asks that many documents of the group hold the word, the second that others do not,
those next to it least of all; and the third that it means what the group is about, with
:math:`w_i` the vector of the word by itself. Function words are left out
(`deltavec.collection.topics.function_words`), and so is what holds no letter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from deltavec.collection.topics.function_words import function_words
from deltavec.collection.topics.term_counts import TermCounts, count_terms
from deltavec.core.arrays import Float32s, Float64s, Int32s, Int64s, blocks

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection

CANDIDATES = 100  # words of a group whose meaning is looked at, and as many as are asked for
SHORTEST_STEM = 3  # characters that make of two words forms of one, if
LONGEST_ENDING = 2  # the other has only so many more


def group_names(
    collection: Collection, labels: Int32s, *, words: int = 5, seed: int = 0
) -> list[list[str]]:
    """The words that name each group of documents, strongest first.

    Any groups can be named: clusters, regions of a map, values of a column.

    Parameters
    ----------
    collection
        Where the documents are.
    labels
        The group of each document, from 0 on; -1 for one that is in none.
    words
        How many words name a group at most.
    seed
        For a collection without stored words, of which some texts are read.
    """
    groups = int(labels.max(initial=-1)) + 1
    directions = mean_directions(collection.index.vectors, labels, groups)
    held = count_terms(collection, labels, groups, seed)
    nameable = naming_words(held)
    totals = np.asarray(held.counts.sum(axis=1)).ravel()
    candidates = [
        strongest(held, totals, nameable, group, neighbor, CANDIDATES + words)
        for group, neighbor in enumerate(nearest_others(directions))
    ]
    places = np.unique(np.concatenate([np.zeros(0, np.int64), *(one for one, _ in candidates)]))
    meant = collection.model.embed([[held.words[place]] for place in places.tolist()])
    names = []
    for (mine, worth), direction in zip(candidates, directions, strict=True):
        worth = worth * (meant[np.searchsorted(places, mine)] @ direction)
        order = np.argsort(-worth, kind="stable")
        ranked = [held.words[place] for place in mine[order[worth[order] > 0]].tolist()]
        names.append(different(ranked, words))
    return names


def naming_words(held: TermCounts) -> Int64s:
    """Which words may name a group: no function words, and two characters at least, one a letter.

    Returns
    -------
    ndarray of int64
        Their places, ascending.
    """
    totals = np.asarray(held.counts.sum(axis=1)).ravel().tolist()
    left_out = function_words(dict(zip(held.words, totals, strict=True)))
    places = [
        place
        for place, word in enumerate(held.words)
        if len(word) > 1 and any(map(str.isalpha, word)) and word not in left_out
    ]
    return np.array(places, np.int64)


def nearest_others(directions: Float64s) -> list[int | None]:
    """The group nearest to each; None if there is no other."""
    if len(directions) < 2:
        return [None] * len(directions)
    cosines = directions @ directions.T
    np.fill_diagonal(cosines, -np.inf)
    return [int(place) for place in cosines.argmax(axis=1)]


def strongest(
    held: TermCounts,
    totals: Float64s,
    nameable: Int64s,
    group: int,
    neighbor: int | None,
    count: int,
) -> tuple[Int64s, Float64s]:
    """The words that tell a group best, and how well: the first two factors above."""
    column = held.counts[:, group]
    places, first, _ = np.intersect1d(
        column.indices, nameable, assume_unique=True, return_indices=True
    )
    mine = column.data[first]
    size, everywhere = int(held.sizes[group]), int(held.sizes.sum())
    share = mine / max(size, 1)
    worth = share
    if neighbor is not None:
        # Half a document more on the other side: what is nowhere else is not infinitely telling.
        others = (totals[places] - mine + 0.5) / (everywhere - size + 1)
        beside = held.counts[:, neighbor].toarray().ravel()[places]
        nearby = (beside + 0.5) / (int(held.sizes[neighbor]) + 1)
        worth = share * np.maximum(np.log(share / others) + np.log(share / nearby), 0) / 2
    order = np.argsort(-worth, kind="stable")[:count]
    return places[order].astype(np.int64), worth[order]


def different(words: Sequence[str], count: int) -> list[str]:
    """The first words, without forms of those before."""
    kept: list[str] = []
    for word in words:
        if len(kept) == count:
            break
        if not any(are_forms(word, before) for before in kept):
            kept.append(word)
    return kept


def are_forms(a: str, b: str) -> bool:
    """Whether two words seem to be forms of one: one is the other with a short ending."""
    short, long = sorted((a, b), key=len)
    short_enough = len(long) - len(short) <= LONGEST_ENDING
    return len(short) >= SHORTEST_STEM and short_enough and long.startswith(short)


def mean_directions(vectors: Float32s, labels: Int32s, groups: int) -> Float64s:
    """The direction of the mean of each group; zeros for one without members."""
    sums = np.zeros((groups, vectors.shape[1]))
    for rows in blocks(len(vectors)):
        here = labels[rows]
        for group in np.unique(here[here >= 0]):
            sums[group] += vectors[rows][here == group].sum(axis=0, dtype=np.float64)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return sums / np.where(lengths > 0, lengths, 1)
