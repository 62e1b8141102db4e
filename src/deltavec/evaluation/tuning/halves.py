"""Two halves of the labelled documents: one to choose a recipe on, one to report on.

No group, and no document, is on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.evaluation.review_sample import Location, reviewed
from deltavec.evaluation.tuning.areas import LabelledPairs
from deltavec.io.corpora import Corpus

FEWEST_GROUPS = 4
# With one group left out, two must be left to compare.
FEWEST_UNITS = 3
DOCUMENTS_PER_GROUP = 25

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


class Halves(NamedTuple):
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


def group_halves(corpus: Corpus, group_column: str, documents: int, seed: int) -> Halves:
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
    groups = usable_groups(reviewed(corpus, group_column).locations, group_column)
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
        half_of(corpus, [drawn[place] for place in np.flatnonzero(sides == side)], unit)
        for side in (0, 1)
    )
    return Halves(choosing, held_back, unit, tuple(notes))


def usable_groups(groups: Sequence[Location], column: str) -> list[Location]:
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


def drawn_rows(groups: Sequence[Location], documents: int, rng: np.random.Generator) -> list[Rows]:
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


def half_of(corpus: Corpus, groups: Sequence[Rows], unit: str) -> Half:
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
