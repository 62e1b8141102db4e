"""Documents by group: which rows of a corpus carry which label."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.errors import CorpusError, InputError
from deltavec.io.corpus.corpus import Corpus


@dataclass(frozen=True, eq=False)
class Group:
    """Documents that carry one label.

    Attributes
    ----------
    name : str
        What it is called.
    kind : str
        What kind of group it is; empty if no kinds are told apart.
    rows : ndarray of int64
        The rows of its documents that hold text.
    """

    name: str
    kind: str
    rows: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of a corpus.

    Attributes
    ----------
    groups : tuple of Group
        Those that have documents, the largest first, ties by name.
    documents : int
        How many rows the corpus has, those without text or label among them.
    digest : str
        A hash of all texts, labels and kinds.
    """

    groups: tuple[Group, ...]
    documents: int
    digest: str


def groups_of(corpus: Corpus, group_column: str, kind_column: str | None = None) -> Groups:
    """The groups of a corpus, by the labels in a column."""
    columns = [group_column] if kind_column is None else [group_column, kind_column]
    for name in columns:
        if name == corpus.column:
            raise InputError(f"the column {name!r} holds the text; expected one that holds labels")
    if kind_column == group_column:
        raise InputError(f"the column {group_column!r} names the groups; name another for kinds")
    corpus.schema(columns)  # an unknown column is an error before any reading
    rows: dict[str, list[int]] = {}
    kinds: dict[str, str] = {}
    digest = hashlib.sha256()  # of one row after the other, however they come in batches
    documents = 0
    for batch in corpus.batches(columns):
        texts, *labels = (batch.column(place) for place in range(batch.num_columns))
        cells = [texts.fill_null(""), *map(strings, labels, columns)]
        for text, name, *kind in zip(*(column.to_pylist() for column in cells), strict=True):
            for cell in (text, name, *kind):
                encoded = cell.encode()
                digest.update(len(encoded).to_bytes(8, "little") + encoded)
            if name and kind and kinds.setdefault(name, *kind) != kind[0]:
                raise CorpusError(
                    f"expected one kind for each group, got {kinds[name]!r} and {kind[0]!r} "
                    f"for {name!r}"
                )
            if name and text.strip():
                rows.setdefault(name, []).append(documents)
            documents += 1
    groups = [
        Group(name, kinds.get(name, ""), np.array(places, np.int64))
        for name, places in rows.items()
    ]
    groups.sort(key=lambda group: (-len(group.rows), group.name))
    return Groups(tuple(groups), documents, digest.hexdigest())


def strings(column: Any, name: str) -> Any:
    """A column of labels as strings; a missing label is an empty one."""
    try:
        return column.cast(pa.string()).fill_null("")
    except pa.ArrowException:
        raise CorpusError(
            f"expected labels (text or numbers) in the column {name!r}, got {column.type}"
        ) from None
