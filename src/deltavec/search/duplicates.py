"""Texts that are the same, perhaps edited: pairs above a text overlap, and what to remove."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arguments import require_one_of
from deltavec.core.arrays import Float32s, Int64s
from deltavec.core.text.batches import as_corpus
from deltavec.core.threads import thread_count
from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import replacing
from deltavec.notebook import table
from deltavec.search import kernels
from deltavec.search.ids import Ids, IdsLike
from deltavec.search.pairs import (
    MOST_PAIRS,
    RowGroups,
    collect,
    join,
    linked_rows,
    require_output,
    require_threshold,
)
from deltavec.search.shingle_kernels import TextPairs
from deltavec.search.shingles import Shingles, text_pairs

DUPLICATE = 0.5  # of the heavier text
KEEP = ("first", "longest")
SHOWN = 20  # groups, and documents of each


class DuplicatePairs(NamedTuple):
    """Pairs of documents: the ids of both, and how much of their texts is the same."""

    a: npt.NDArray[Any]
    b: npt.NDArray[Any]
    shared: Float32s
    contained: Float32s


@dataclass(frozen=True, eq=False)
class Duplicates:
    """Documents whose texts are the same, or share at least a threshold.

    Attributes
    ----------
    threshold : float
        The least share of the longer text that is in the other one too.
    names : Ids
        What the documents are called.
    words : ndarray of int64
        How many words each document has.
    firsts : ndarray of int64
        For each document the first one with the same words.
    rows : TextPairs
        The pairs of distinct texts, as rows.
    keep : str
        ``first`` or ``longest``: which document of two stays.

    Examples
    --------
    >>> notice = "The pool is closed on Monday from nine to noon for cleaning"
    >>> found = dv.duplicates([notice, "The bar is open", f"{notice} again"])
    >>> found
    Duplicates(1 pairs that share 0.5 or more, 1 documents would go)
    >>> found.table.select(["id", "representative", "why"]).to_pylist()[1]
    {'id': 2, 'representative': 0, 'why': 'shared text'}
    """

    threshold: float
    names: Ids = field(repr=False)
    words: Int64s = field(repr=False)
    firsts: Int64s = field(repr=False)
    rows: TextPairs = field(repr=False)
    keep: str = "first"

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self.rows.a) + len(self.copies)

    @cached_property
    def copies(self) -> Int64s:
        """The documents with the same words as an earlier one."""
        return np.flatnonzero(self.firsts < np.arange(len(self.firsts)))

    @cached_property
    def pairs(self) -> DuplicatePairs:
        """Each copy with the first that has its words, then pairs of distinct texts."""
        ones = np.ones(len(self.copies), np.float32)
        copies = TextPairs(self.firsts[self.copies], self.copies, ones, ones)
        rows = join([copies, self.rows])
        return DuplicatePairs(self.names.at(rows.a), self.names.at(rows.b), *rows[2:])

    @cached_property
    def _groups(self) -> RowGroups:
        a = np.append(self.firsts[self.copies], self.rows.a)
        return linked_rows(len(self.firsts), a, np.append(self.copies, self.rows.b))

    @property
    def groups(self) -> tuple[npt.NDArray[Any], ...]:
        """The ids of documents that pairs link, directly or through other ones; largest first."""
        members = self.names.at(self._groups.members)
        return tuple(np.split(members, self._groups.begins[1:-1])) if len(members) else ()

    @cached_property
    def kept_for(self) -> tuple[Int64s, Float32s]:
        """For each document the one that stays for it, -1 if it stays, and what they share.

        In the order of `keep` a document stays unless one before it that stays is a duplicate of
        it. So no two that stay are duplicates, and each that goes has a duplicate that stays.
        """
        count = len(self.firsts)
        order, ranks = np.arange(count), np.arange(count)
        if self.keep == "longest":
            order = np.argsort(-self.words, kind="stable")
            ranks[order] = np.arange(count)
        a, b = ranks[self.rows.a], ranks[self.rows.b]
        a, b = np.minimum(a, b), np.maximum(a, b)
        pairs = np.lexsort((b, a))
        nearest, shared = np.full(count, -1), np.zeros(count, np.float32)
        kernels.keep_first(nearest, shared, a[pairs], b[pairs], self.rows.shared[pairs])
        stays_for, shared = np.where(nearest < 0, -1, order[nearest])[ranks], shared[ranks]
        first = self.firsts[self.copies]
        stays_for[self.copies] = np.where(stays_for[first] < 0, first, stays_for[first])
        shared[self.copies] = np.where(stays_for[first] < 0, np.float32(1), shared[first])
        return stays_for, shared

    @property
    def removed(self) -> Int64s:
        """The rows that go, ascending."""
        return np.flatnonzero(self.kept_for[0] >= 0)

    @cached_property
    def table(self) -> pa.Table:
        """What becomes of each document that is in a group, and why.

        ``id``; ``group``, its number; ``keep``, whether it stays; ``representative``, the id of the
        one that stays for it; ``shared``, how much they share; ``why``: kept, same words, or shared
        text.
        """
        members, begins = self._groups
        stays_for, shared = (column[members] for column in self.kept_for)
        stays = stays_for < 0
        same = self.firsts[members] == self.firsts[np.maximum(stays_for, 0)]
        why = np.where(stays, "kept", np.where(same, "same words", "shared text"))
        ids = self.names.values
        return pa.table(
            {
                "id": ids.take(pa.array(members)),
                "group": np.repeat(np.arange(len(begins) - 1), np.diff(begins)),
                "keep": stays,
                "representative": ids.take(pa.array(np.where(stays, members, stays_for))),
                "shared": np.where(stays, np.float32(1), shared),
                "why": why,
            }
        )

    def at(self, threshold: float) -> Duplicates:
        """The same at a higher threshold."""
        least = require_threshold(threshold, "share")
        if least < self.threshold:
            raise InputError(f"these are duplicates from {self.threshold:g} on, got {least:g}")
        rows = self.rows.at(self.rows.shared >= np.float32(least))
        return Duplicates(least, self.names, self.words, self.firsts, rows, self.keep)

    def write(self, output: str | PathLike[str]) -> None:
        """Write the pairs to a Parquet file: a, b, shared, contained."""
        from pyarrow import parquet

        path = require_output(output)
        with replacing(path) as temporary:
            parquet.write_table(pa.table(self.pairs._asdict()), temporary)

    def __repr__(self) -> str:
        return (
            f"Duplicates({len(self):,} pairs that share {self.threshold:g} or more, "
            f"{len(self.removed):,} documents would go)"
        )

    def _repr_html_(self) -> str:
        """The largest groups, as a table."""
        groups = self.groups
        rows = [(group[0], len(group), ", ".join(map(str, group[:SHOWN]))) for group in groups]
        hidden = len(groups) > SHOWN or any(len(group) > SHOWN for group in groups)
        return table(repr(self), ("first", "documents", "ids"), rows[:SHOWN], hidden)


def duplicates(
    documents: Any,
    threshold: float = DUPLICATE,
    *,
    ids: IdsLike | None = None,
    keep: str = "first",
    threads: int | None = None,
    on_progress: Callable[[float], None] | None = None,
) -> Duplicates:
    """All pairs of documents that share text, and which documents to remove.

    Two documents are duplicates if at least half of the longer text is in the other one, word for
    word in short runs: see `deltavec.search.shingles`. Rare words count more, numbers most. Every
    such pair is found. Documents about the same thing in other words are not duplicates; for
    those see `similar_pairs`.

    Parameters
    ----------
    documents
        A list of texts, a column, or what `deltavec.read_corpus` gives.
    threshold
        The least share of the longer text, above 0 and up to 1. From .7 on only light edits are
        found: right for titles and notices that differ in a name.
    ids
        What the documents are called: unique whole numbers or strings; by default their numbers.
    keep
        Which document stays: the ``first``, or the ``longest``.
    threads
        How many cores; all of them by default.
    on_progress
        Called with the share of the work that is done.

    Raises
    ------
    InputError
        If there are more than 50 million pairs.

    Examples
    --------
    >>> notice = "The pool is closed on Monday from nine to noon for cleaning"
    >>> found = duplicates([notice, "The bar is open", notice.upper() + "!", notice + " again"])
    >>> found
    Duplicates(2 pairs that share 0.5 or more, 2 documents would go)
    >>> found.table.select(["id", "keep", "representative", "why"]).to_pylist()[1]
    {'id': 2, 'keep': False, 'representative': 0, 'why': 'same words'}
    """
    least = require_threshold(threshold, "share")
    require_one_of("keep", keep, KEEP)
    thread_count(threads)
    if hasattr(documents, "dtype") and np.dtype(documents.dtype).kind == "f":
        raise InputError("duplicates compares texts, got vectors: use similar_pairs for these")
    shingles = Shingles.of(as_corpus(documents), threads)
    names = Ids.of(ids, len(shingles))
    found = text_pairs(shingles, least, threads=threads, on_progress=on_progress)
    rows, shares = np.zeros((2, 0), np.int64), np.zeros((2, 0), np.float32)
    empty, problem = TextPairs(*rows, *shares), f"share {least:g}: raise the threshold"
    pairs = collect(found, empty, MOST_PAIRS, problem)
    return Duplicates(least, names, shingles.words, shingles.firsts, pairs, keep)
