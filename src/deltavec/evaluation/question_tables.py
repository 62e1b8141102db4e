"""Forums from a table of labelled pairs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from deltavec.errors import CorpusError
from deltavec.evaluation.forums import Forum
from deltavec.io.corpora import read_corpus
from deltavec.io.corpus_formats import SUFFIXES
from deltavec.io.records import COMPRESSIONS

FORUM, LABEL, ONE, OTHER = "forum", "label", "text_a", "text_b"
LABELS = {"1": True, "0": False, "true": True, "false": False}


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


def table_forums(path: Path) -> list[Forum]:
    """The forums of a table with the columns forum, label, text_a and text_b."""
    corpus = read_corpus(path, column=ONE)
    beside = [OTHER, FORUM, LABEL]
    corpus.schema(beside)  # a missing column is an error before any reading
    forums: dict[str, Collected] = {}
    row = 0
    for batch in corpus.batches(beside):
        for one, other, forum, label in zip(
            *(batch.column(name).to_pylist() for name in (ONE, *beside)), strict=True
        ):
            row += 1
            if forum is None or not str(forum).strip():
                raise CorpusError(f"{path}, row {row}: no forum; expected a name in each row")
            texts = (as_text(one, ONE, path, row), as_text(other, OTHER, path, row))
            forums.setdefault(str(forum), Collected()).add(as_label(label, path, row), texts)
    if not forums:
        raise CorpusError(f"{path}: holds no pairs")
    return [collected.as_forum(name) for name, collected in forums.items()]


def as_text(value: Any, column: str, path: Path, row: int) -> str:
    """A text; one that is missing is empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise CorpusError(
            f"{path}, row {row}: expected text under {column!r}, got {type(value).__name__}"
        )
    return value


def as_label(value: Any, path: Path, row: int) -> bool:
    """Whether a pair is one of duplicates."""
    spelled = str(value).strip().lower().removesuffix(".0")
    if spelled not in LABELS:
        raise CorpusError(
            f"{path}, row {row}: expected the label 1 (duplicates) or 0 (not), got {value!r}"
        )
    return LABELS[spelled]
