"""Words of documents, written to disk as a collection does: for laws of search by words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from deltavec.core.arrays import read_only
from deltavec.core.learning.stemming import Rules
from deltavec.core.text.batches import as_text_batch
from deltavec.core.vocabulary import Vocabulary
from deltavec.search.hybrid.score_scale import ScoreScale
from deltavec.search.lexical.index import InvertedIndex
from deltavec.search.lexical.writer import PostingsWriter, StoredPostings, WordTerms, map_postings
from deltavec.search.matrix import ChunkedMatrix

WORDS = ["sea", "seas", "room", "rooms", "quiet", "x", "и", "日本", "the"]
documents = st.lists(st.lists(st.sampled_from(WORDS), max_size=30), min_size=1, max_size=12)


def stem(word: str) -> str:
    """The first letter: the forms of a word are those that begin with it."""
    return word[0]


class Terms:
    """The terms of words by their stems, numbered as they come."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.words: set[str] = set()

    def __call__(self, vocabulary: Vocabulary) -> WordTerms:
        words = vocabulary.words
        groups = [self.numbers.setdefault(stem(word), len(self.numbers)) for word in words]
        new = [place for place, word in enumerate(words) if word not in self.words]
        self.words |= set(words)
        return WordTerms(np.array(groups, np.int32), np.array(new, np.int64), Rules.none())


def in_pieces(
    parts: list[list[list[str]]], vectors: np.ndarray, deleted: np.ndarray
) -> ChunkedMatrix:
    """The vectors of documents that came in several additions, of which some are deleted."""
    cuts = np.cumsum([len(part) for part in parts])[:-1]
    arrays = tuple(map(read_only, np.split(vectors, cuts)))
    return ChunkedMatrix(arrays, 1e-6, (), tuple(map(np.flatnonzero, np.split(deleted, cuts))))


def written(
    parts: list[list[list[str]]],
    vectors: np.ndarray,
    folder: Path,
    at_once: int,
    deleted: np.ndarray | None = None,
) -> StoredPostings:
    """The words of documents that came in several additions, a segment for each.

    Some of them may be deleted: a boolean for each.
    """
    gone = np.zeros(sum(map(len, parts)), bool) if deleted is None else deleted
    terms, segments = Terms(), []
    for number, part in enumerate(parts):
        with PostingsWriter(folder) as writer:
            writer.add(as_text_batch(part[:1], "words"))
            writer.add(as_text_batch(part[1:], "words"))
            path = folder / f"{number}.words"
            sizes = writer.finish(path, terms, at_once)
        with path.open("rb") as file:
            segments.append(map_postings(file, sizes, verify=True))
    assert len(list(folder.iterdir())) == len(parts)
    index = InvertedIndex(tuple(segments), in_pieces(parts, vectors, gone).deleted)
    spread = ScoreScale.of(vectors, 1).plus(ScoreScale.of(vectors[gone], 1), -1)
    return StoredPostings(index, spread)
