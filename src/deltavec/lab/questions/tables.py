"""Forums from a table of labelled pairs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from deltavec.errors import CorpusError
from deltavec.evaluation.pairs import as_label
from deltavec.io.corpus.blocks import COMPRESSIONS
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.corpus.formats import SUFFIXES
from deltavec.lab.questions.forums import Forum

FORUM, LABEL, ONE, OTHER = "forum", "label", "text_a", "text_b"

Kind = TypeVar("Kind", str, list[Any])


def is_table(path: Path) -> bool:
    """Whether a file's name says that it is a table, compressed or not."""
    name = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return SUFFIXES.get(name.suffix.lower()) not in (None, "txt")


@dataclass
class Collected:
    """The pairs of one forum, as they come."""

    places: dict[str, int] = field(default_factory=dict)
    pairs: dict[bool, list[tuple[int, int]]] = field(default_factory=lambda: {True: [], False: []})
    notes: Counter[str] = field(default_factory=Counter)

    def add(self, label: bool, texts: tuple[str, str]) -> None:
        """One more pair."""
        one, other = (self.places.setdefault(text, len(self.places)) for text in texts)
        if not all(text.strip() for text in texts):
            self.notes["pairs with an empty text"] += 1
        self.pairs[label].append((one, other))

    def as_forum(self, name: str) -> Forum:
        """All of them; a question is a distinct text."""
        duplicates, others = (
            np.array(self.pairs[label], np.int64).reshape(-1, 2) for label in (True, False)
        )
        return Forum(name, tuple(self.places), duplicates, others, notes=dict(self.notes))


def table_forums(path: Path, encoding: str | None = None) -> list[Forum]:
    """The forums of a table with the columns forum, label, text_a and text_b."""
    corpus = read_corpus(path, column=ONE, encoding=encoding)
    beside = [OTHER, FORUM, LABEL]
    corpus.schema(beside)  # a missing column is an error before any reading
    forums: dict[str, Collected] = {}
    row = 0
    for batch in corpus.batches(beside):
        for one, other, forum, label in zip(
            *(batch.column(name).to_pylist() for name in (ONE, *beside)), strict=True
        ):
            row += 1
            where = f"{path}, row {row}"
            if forum is None or not str(forum).strip():
                raise CorpusError(f"{where}: no forum; expected a name in each row")
            texts = (as_a(str, one, ONE, where), as_a(str, other, OTHER, where))
            forums.setdefault(str(forum), Collected()).add(as_label(label, path, row), texts)
    if not forums:
        raise CorpusError(f"{path}: holds no pairs")
    return [collected.as_forum(name) for name, collected in forums.items()]


def as_a(kind: type[Kind], value: Any, name: str, where: str) -> Kind:
    """A text or a list that a file has under a name; one that is missing is empty."""
    if value is None:
        return kind()
    if not isinstance(value, kind):
        expected = "text" if kind is str else "a list"
        raise CorpusError(
            f"{where}: expected {expected} under {name!r}, got {type(value).__name__}"
        )
    return value
