"""Two parts of the labeled documents: one to choose a recipe on, one to report on.

No group, and no document, is on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy import sparse
from scipy.sparse import csgraph

from deltavec.errors import CorpusError
from deltavec.evaluation.groups import Group, groups_of
from deltavec.io.corpus.corpus import Corpus
from deltavec.lab.tuning.jackknife import LabeledPairs
from deltavec.lab.tuning.labels import ListedPairs, Pairs
from deltavec.lab.words import take_texts

FEWEST_GROUPS = 4
# With one group left out, two must be left to compare.
FEWEST_UNITS = 3
DOCUMENTS_PER_GROUP = 25
# A half has at least this share of the pairs of each label, or the cut is made another way.
SMALLEST_SHARE = 0.25

Rows = npt.NDArray[np.int64]


class Half(NamedTuple):
    """Documents that are compared with each other, as a collection of their own.

    Attributes
    ----------
    texts : pyarrow.Array
        The documents.
    pairs : LabeledPairs
        Which of them are compared.
    groups : int
        The number of groups, or of connected sets of documents.
    """

    texts: Any
    pairs: LabeledPairs
    groups: int

    @property
    def sizes(self) -> dict[str, int]:
        """The numbers of groups, documents and pairs."""
        return {
            "groups": self.groups,
            "documents": len(self.texts),
            "pairs": len(self.pairs.positive),
            "positive_pairs": int(self.pairs.positive.sum()),
        }


class Split(NamedTuple):
    """The half to choose on, and the half that is held back.

    Attributes
    ----------
    choosing, held_back : Half
        The two parts.
    unit : str
        What is left out at once for a standard error.
    notes : tuple of str
        What the data did not allow.
    """

    choosing: Half
    held_back: Half
    unit: str
    notes: tuple[str, ...]


def split_groups(corpus: Corpus, group_column: str, documents: int, seed: int) -> Split:
    """Two parts of the groups, in each all pairs of their documents.

    Parameters
    ----------
    corpus
        The documents.
    group_column
        The column with the group of each document.
    documents
        The number of documents to compare, in both parts together. The largest groups come first,
        with at least 25 documents each.
    seed
        The seed of the draw of documents and of the split.
    """
    groups = usable_groups(groups_of(corpus, group_column).groups, group_column)
    rng = np.random.default_rng(seed)
    each = max(DOCUMENTS_PER_GROUP, documents // len(groups))
    drawn: list[Rows] = []
    for group in groups:
        if sum(map(len, drawn)) >= documents and len(drawn) >= FEWEST_GROUPS:
            break
        drawn.append(np.sort(rng.permutation(group.rows)[:each]))
    # Of each two neighbors in size, one is on either side.
    first = rng.integers(2, size=(len(drawn) + 1) // 2)
    sides = np.stack([first, 1 - first], axis=1).reshape(-1)[: len(drawn)]
    unit = "group" if np.bincount(sides).min() >= FEWEST_UNITS else "document"
    notes = []
    if len(drawn) < len(groups):
        notes.append(f"{len(drawn):,} of {len(groups):,} groups are compared: the largest")
    if unit == "document":
        notes.append(
            "a half has fewer than 3 groups: standard errors are over documents, and too small"
        )
    choosing, held_back = (
        half_of_groups(corpus, [drawn[group] for group in np.flatnonzero(sides == side)], unit)
        for side in (0, 1)
    )
    return Split(choosing, held_back, unit, tuple(notes))


def usable_groups(groups: Sequence[Group], column: str) -> list[Group]:
    """The groups of at least two documents; an error if they are too few to split."""
    usable = [group for group in groups if len(group.rows) > 1]
    if len(usable) < FEWEST_GROUPS:
        raise CorpusError(
            f"expected at least {FEWEST_GROUPS} groups of two documents or more, to choose on one "
            f"half of them and report on the other; the column {column!r} has {len(usable)} of "
            f"{len(groups):,} different labels"
        )
    return usable


def half_of_groups(corpus: Corpus, groups: Sequence[Rows], unit: str) -> Half:
    """The documents of these groups, and all pairs of them."""
    rows = np.concatenate(groups)
    order = np.argsort(rows)
    group_of = np.repeat(np.arange(len(groups), dtype=np.int32), [len(own) for own in groups])
    group_of = group_of[order]
    first, second = (side.astype(np.int32) for side in np.triu_indices(len(rows), 1))
    units = group_of if unit == "group" else np.arange(len(rows), dtype=np.int32)
    pairs = LabeledPairs(first, second, group_of[first] == group_of[second], units)
    return Half(take_texts(corpus, rows[order]), pairs, len(groups))


class Cut(NamedTuple):
    """The unit of each document, the side of each unit, and the name of a unit."""

    unit_of: Rows
    sides: Rows
    unit: str

    def on(self, side: int, pairs: Pairs) -> npt.NDArray[np.bool_]:
        """Which pairs have both documents on a side."""
        here: npt.NDArray[np.bool_] = (self.sides[self.unit_of[pairs]] == side).all(axis=1)
        return here


def split_pairs(listed: ListedPairs, texts: Any, seed: int) -> Split:
    """Two parts of the pairs, each with the documents that they name.

    Documents that are connected by pairs stay together. If most of them are connected, only those
    that belong together do, and other pairs between the parts are left out.
    """
    pairs = listed.pairs
    for connecting, unit, share in (
        (pairs, "connected set", SMALLEST_SHARE),
        (pairs[listed.positive], "cluster", 0.0),
    ):
        cut = cut_units(listed, connect(len(listed.names), connecting), unit, seed)
        if is_fair(listed, cut, share):
            lost = len(pairs) - sum(int(cut.on(side, pairs).sum()) for side in (0, 1))
            note = (
                f"{lost:,} of {len(pairs):,} pairs would join the parts and are left out: most "
                "documents are connected by pairs"
            )
            choosing, held_back = (half_of_pairs(listed, texts, cut, side) for side in (0, 1))
            notes = (*listed.notes, note) if lost else listed.notes
            return Split(choosing, held_back, unit, notes)
    raise CorpusError(
        f"{len(pairs):,} pairs ({int(listed.positive.sum()):,} that belong together) cannot be cut "
        "into parts that share no document: each part needs pairs of both labels, and some must "
        "be left when a document is left out; add pairs of other documents"
    )


def connect(documents: int, pairs: Pairs) -> Rows:
    """A number for each document, the same for those that the pairs connect."""
    links = sparse.coo_matrix((np.ones(len(pairs), np.int8), pairs.T), (documents, documents))
    numbers: Rows = csgraph.connected_components(links, directed=False)[1].astype(np.int64)
    return numbers


def cut_units(listed: ListedPairs, unit_of: Rows, unit: str, seed: int) -> Cut:
    """Share out the units, the largest first, so that the sides have as many of each label."""
    units = int(unit_of.max()) + 1
    by_label = (listed.pairs[listed.positive], listed.pairs[~listed.positive])
    touched = np.stack(
        [np.bincount(unit_of[pairs].reshape(-1), minlength=units) for pairs in by_label], axis=1
    )
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(units), -touched[:, 1], -touched[:, 0]))
    sides = np.zeros(units, np.int64)
    loads = np.zeros((2, 2), np.int64)
    for number in order.tolist():
        label = 0 if touched[number, 0] else 1
        side = int(loads[1, label] < loads[0, label])
        sides[number] = side
        loads[side] += touched[number]
    return Cut(unit_of, sides, unit)


def is_fair(listed: ListedPairs, cut: Cut, share: float) -> bool:
    """Whether both sides have enough pairs of both labels, also with any unit left out."""
    for side in (0, 1):
        here = cut.on(side, listed.pairs)
        for label in (True, False):
            of_label = listed.positive == label
            own = listed.pairs[here & of_label]
            if len(own) == 0 or len(own) < share * of_label.sum():
                return False
            one, other = cut.unit_of[own].T
            touching = np.bincount(np.concatenate([one, other[other != one]]))
            if touching.max() == len(own):
                return False
    return True


def half_of_pairs(listed: ListedPairs, texts: Any, cut: Cut, side: int) -> Half:
    """The pairs on one side, and the documents that they name."""
    here = cut.on(side, listed.pairs)
    documents, rows = np.unique(listed.pairs[here], return_inverse=True)
    ends = np.sort(rows.reshape(-1, 2), axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0]))  # by the first row: see `products`
    first, second = ends[order].T.astype(np.int32)
    units, unit_of = np.unique(cut.unit_of[documents], return_inverse=True)
    pairs = LabeledPairs(first, second, listed.positive[here][order], unit_of.astype(np.int32))
    return Half(texts.take(pa.array(documents)), pairs, len(units))
