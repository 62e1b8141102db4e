"""Words of documents, written to disk as a collection does: for laws of search by words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from deltavec.core.learning.stemming import Rules, Stems
from deltavec.core.text.batches import as_text_batch
from deltavec.core.vocabulary import Vocabulary
from deltavec.search.hybrid.score_scale import measure_scale
from deltavec.search.lexical.storage import StoredPostings, map_postings
from deltavec.search.lexical.writer import PostingsWriter

WORDS = ["sea", "seas", "room", "rooms", "quiet", "x", "и", "日本", "the"]
documents = st.lists(st.lists(st.sampled_from(WORDS), max_size=30), min_size=1, max_size=12)


def stem(word: str) -> str:
    """The first letter: the forms of a word are those that begin with it."""
    return word[0]


def stems_of(vocabulary: Vocabulary) -> Stems:
    """Groups of words by their stems, numbered as they come."""
    numbers: dict[str, int] = {}
    groups = [numbers.setdefault(stem(word), len(numbers)) for word in vocabulary.words]
    return Stems(np.array(groups, np.int32), Rules.none())


def written(
    parts: list[list[list[str]]], vectors: np.ndarray, folder: Path, at_once: int
) -> StoredPostings:
    """The words of documents that came in several additions."""
    stored, first = None, 0
    for number, part in enumerate(parts):
        first += len(part)
        spread = measure_scale(vectors[:first], stored.spread if stored else None, 1)
        with PostingsWriter(folder, stored.words if stored else None) as writer:
            writer.add(as_text_batch(part[:1], "words"))
            writer.add(as_text_batch(part[1:], "words"))
            path = folder / f"{number}.words"
            sizes = writer.finish(
                path, stems_of, lambda spread=spread: spread, vectors.shape[1], at_once
            )
        with path.open("rb") as file:
            stored = map_postings(file, sizes, verify=True)
    assert stored is not None
    assert len(list(folder.iterdir())) == len(parts)
    return stored
