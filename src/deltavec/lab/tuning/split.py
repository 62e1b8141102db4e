"""Two halves of the labelled documents: one to choose a recipe on, one to report on.

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
from deltavec.lab.tuning.jackknife import LabelledPairs
from deltavec.lab.tuning.labels import Listed, Pairs

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
    pairs : LabelledPairs
        Which of them are compared.
    groups : int
        How many groups, or connected sets of documents, they make.
    """

    texts: Any
    pairs: LabelledPairs
    groups: int


class Split(NamedTuple):
    """The half to choose on, and the half that is held back.

    Attributes
    ----------
    choosing, held_back : Half
        The halves.
    unit : str
        What is left out at once for a standard error.
    notes : tuple of str
        Where the data did not allow what one would wish for.
    """

    choosing: Half
    held_back: Half
    unit: str
    notes: tuple[str, ...]


def split_groups(corpus: Corpus, group_column: str, documents: int, seed: int) -> Split:
    """Two halves of the groups, in each all pairs of their documents.

    Parameters
    ----------
    corpus
        The documents, with a column that says which group each belongs to.
    group_column
        That column.
    documents
        How many documents to compare, in both halves together: of every group at most as many as
        fit, of 25 at least; the largest groups first.
    seed
        Where random numbers begin: which documents of a group, and which half it is in.
    """
    groups = usable_groups(groups_of(corpus, group_column).groups, group_column)
    rng = np.random.default_rng(seed)
    drawn = drawn_rows(groups, documents, rng)
    sides = alternating(len(drawn), rng)
    unit = "group" if np.bincount(sides).min() >= FEWEST_UNITS else "document"
    notes = []
    if len(drawn) < len(groups):
        notes.append(f"{len(drawn):,} of {len(groups):,} groups are compared: the largest")
    if unit == "document":
        notes.append(
            "a half has fewer than 3 groups: standard errors are over documents, and too small"
        )
    choosing, held_back = (
        half_of_groups(corpus, [drawn[place] for place in np.flatnonzero(sides == side)], unit)
        for side in (0, 1)
    )
    return Split(choosing, held_back, unit, tuple(notes))


def usable_groups(groups: Sequence[Group], column: str) -> list[Group]:
    """The groups that have two documents or more; an error if they are too few to split."""
    if not groups:
        raise CorpusError(f"no document holds text and a label in the column {column!r}")
    if len(groups) == 1:
        raise CorpusError(
            f"expected several groups, got one: every label in the column {column!r} is "
            f"{groups[0].name!r:.60}; name a column that tells documents apart"
        )
    usable = [group for group in groups if len(group.rows) > 1]
    if not usable:
        raise CorpusError(
            f"expected groups of documents, got labels that all differ: each of the {len(groups):,}"
            f" in the column {column!r} occurs once; name a column that several documents share"
        )
    if len(usable) < FEWEST_GROUPS:
        raise CorpusError(
            f"expected at least {FEWEST_GROUPS} groups of two documents or more, to choose on one "
            f"half of them and report on the other; the column {column!r} has {len(usable)}"
        )
    return usable


def drawn_rows(groups: Sequence[Group], documents: int, rng: np.random.Generator) -> list[Rows]:
    """Rows of each group, drawn without replacement, as long as there is room for documents."""
    each = max(DOCUMENTS_PER_GROUP, documents // len(groups))
    drawn: list[Rows] = []
    total = 0
    for group in groups:
        if total >= documents and len(drawn) >= FEWEST_GROUPS:
            break
        drawn.append(np.sort(rng.permutation(group.rows)[:each]))
        total += len(drawn[-1])
    return drawn


def alternating(count: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """A side for each of some things in a row, so that of each two neighbours one is on either."""
    first = rng.integers(2, size=(count + 1) // 2)
    return np.stack([first, 1 - first], axis=1).reshape(-1)[:count]


def half_of_groups(corpus: Corpus, groups: Sequence[Rows], unit: str) -> Half:
    """The documents of these groups, and all pairs of them."""
    rows = np.concatenate(groups)
    order = np.argsort(rows)
    group_of = np.repeat(np.arange(len(groups), dtype=np.int32), [len(own) for own in groups])
    group_of = group_of[order]
    first, second = (side.astype(np.int32) for side in np.triu_indices(len(rows), 1))
    units = group_of if unit == "group" else np.arange(len(rows), dtype=np.int32)
    pairs = LabelledPairs(first, second, group_of[first] == group_of[second], units)
    return Half(texts_at(corpus, rows[order]), pairs, len(groups))


def texts_at(corpus: Corpus, rows: Rows) -> Any:
    """The documents in these rows, which ascend."""
    parts = []
    first = 0
    for chunk in corpus:
        begin, end = np.searchsorted(rows, (first, first + len(chunk)))
        parts.append(chunk.take(pa.array(rows[begin:end] - first)))
        first += len(chunk)
    return pa.concat_arrays(parts)


class Cut(NamedTuple):
    """A unit for each document, and a side for each unit."""

    unit_of: Rows
    sides: Rows
    unit: str

    def kept(self, pairs: Pairs) -> npt.NDArray[np.bool_]:
        """The pairs whose documents are on one side."""
        sides = self.sides[self.unit_of[pairs]]
        within: npt.NDArray[np.bool_] = sides[:, 0] == sides[:, 1]
        return within

    def on(self, side: int, pairs: Pairs) -> npt.NDArray[np.bool_]:
        """The pairs on one side."""
        here: npt.NDArray[np.bool_] = self.kept(pairs) & (
            self.sides[self.unit_of[pairs[:, 0]]] == side
        )
        return here


def split_pairs(listed: Listed, texts: Any, seed: int) -> Split:
    """Two halves of the pairs, each with the documents that they name.

    Documents that are connected by pairs stay together. Where most of them are connected, those
    that belong together do, and the other pairs that would join the halves are left out.
    """
    cuts = (
        cut(listed, connected(listed, listed.pairs), "connected set", seed),
        cut(listed, connected(listed, listed.pairs[listed.positive]), "cluster", seed),
    )
    for made, share in zip(cuts, (SMALLEST_SHARE, 0.0), strict=True):
        if is_fair(listed, made, share):
            both = [half_of_pairs(listed, texts, made, side) for side in (0, 1)]
            return Split(
                both[0], both[1], made.unit, (*listed.notes, *notes_of_pairs(listed, made))
            )
    positives = int(listed.positive.sum())
    raise CorpusError(
        f"{len(listed.pairs):,} pairs ({positives:,} that belong together) cannot be cut into "
        "halves that share no document: each half needs pairs of both labels, and some must be "
        "left when a document is left out; add pairs of other documents"
    )


def connected(listed: Listed, pairs: Pairs) -> Rows:
    """A number for each document, the same for those that the pairs connect."""
    documents = len(listed.names)
    links = sparse.coo_matrix((np.ones(len(pairs), np.int8), pairs.T), (documents, documents))
    numbers: Rows = csgraph.connected_components(links, directed=False)[1].astype(np.int64)
    return numbers


def cut(listed: Listed, unit_of: Rows, unit: str, seed: int) -> Cut:
    """The units shared out, the largest first, so that both sides have as many of each label."""
    units = int(unit_of.max()) + 1
    touched = np.stack(
        [
            np.bincount(
                unit_of[listed.pairs[listed.positive == label]].reshape(-1), minlength=units
            )
            for label in (True, False)
        ],
        axis=1,
    )
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(units), -touched[:, 1], -touched[:, 0]))
    sides = np.zeros(units, np.int64)
    loads = np.zeros((2, 2), np.int64)
    for number in order.tolist():
        by = 0 if touched[number, 0] else 1
        side = int(loads[1, by] < loads[0, by])
        sides[number] = side
        loads[side] += touched[number]
    return Cut(unit_of, sides, unit)


def is_fair(listed: Listed, made: Cut, share: float) -> bool:
    """Whether both sides have enough pairs of both labels, with any unit left out too."""
    for side in (0, 1):
        here = made.on(side, listed.pairs)
        for label in (True, False):
            of_label = listed.positive == label
            own = listed.pairs[here & of_label]
            if len(own) == 0 or len(own) < share * of_label.sum():
                return False
            one, other = made.unit_of[own].T
            touching = np.bincount(np.concatenate([one, other[other != one]]))
            if touching.max() == len(own):
                return False
    return True


def half_of_pairs(listed: Listed, texts: Any, made: Cut, side: int) -> Half:
    """The pairs on one side, and the documents that they name."""
    here = made.on(side, listed.pairs)
    documents, places = np.unique(listed.pairs[here], return_inverse=True)
    ends = np.sort(places.reshape(-1, 2), axis=1)
    order = np.lexsort((ends[:, 1], ends[:, 0]))  # in order of the first: see `products`
    first, second = ends[order].T.astype(np.int32)
    units, unit_of = np.unique(made.unit_of[documents], return_inverse=True)
    pairs = LabelledPairs(first, second, listed.positive[here][order], unit_of.astype(np.int32))
    return Half(texts.take(pa.array(documents)), pairs, len(units))


def notes_of_pairs(listed: Listed, made: Cut) -> tuple[str, ...]:
    """What was left out, if anything."""
    lost = int((~made.kept(listed.pairs)).sum())
    if not lost:
        return ()
    note = (
        f"{lost:,} of {len(listed.pairs):,} pairs would join the halves and are left out: most "
        "documents are connected by pairs"
    )
    return (note,)
