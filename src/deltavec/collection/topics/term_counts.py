"""How many documents of each group hold each word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from deltavec.core.arrays import Int32s, Int64s
from deltavec.core.text.tokenize import Tokenized
from deltavec.search.lexical.index import InvertedIndex

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection
    from deltavec.core.model import EmbeddingModel

POSTINGS_AT_ONCE = 1 << 22
CELLS_AT_ONCE = 1 << 24  # of terms by groups: 128 MB
MEMBERS_TO_READ = 100  # of a group without stored words; of very many groups fewer,
TEXTS_TO_READ = 10_000  # about so many for all groups together, but
FEWEST_TO_READ = 10


class TermCounts(NamedTuple):
    """How many documents of each group hold each word.

    Attributes
    ----------
    words : list of str
        The words; of forms that count as one, the most frequent.
    counts : sparse matrix, words by groups
        How many documents of the group hold the word.
    sizes : ndarray of int64
        How many documents of each group were looked at.
    """

    words: list[str]
    counts: sparse.csc_matrix
    sizes: Int64s


def count_terms(collection: Collection, labels: Int32s, groups: int, seed: int = 0) -> TermCounts:
    """How many documents of each group hold each word.

    Where the collection stores words, all documents are counted. Else some texts of each group are
    read.

    Parameters
    ----------
    collection
        Where the documents are.
    labels
        The group of each document; -1 for one that is in none.
    groups
        How many groups there are.
    seed
        For the texts that are read.
    """
    if collection.words is not None:
        return from_postings(collection.words.words, collection.model, labels, groups)
    return from_texts(collection, labels, groups, seed)


def from_postings(
    words: InvertedIndex, model: EmbeddingModel, labels: Int32s, groups: int
) -> TermCounts:
    """The counts of all documents, from the stored postings; no text is read."""
    begins, documents = words.postings.begins, words.postings.documents
    parts = [sparse.csr_matrix((0, groups), dtype=np.int64)]
    for first, last in term_blocks(begins, groups):
        held = documents[begins[first] : begins[last]]
        terms = np.repeat(np.arange(last - first), np.diff(begins[first : last + 1]))
        there = (held >= 0) & (held < len(labels))  # a damaged file leads nowhere
        here = np.where(there, labels[np.where(there, held, 0)], -1)
        cells = (terms * groups + here)[here >= 0]
        counts = np.bincount(cells, minlength=(last - first) * groups)
        parts.append(sparse.csr_matrix(counts.reshape(last - first, groups)))
    sizes = np.bincount(labels[labels >= 0], minlength=groups)
    return TermCounts(usual_forms(words, model), sparse.vstack(parts, "csc"), sizes)


def term_blocks(begins: Int64s, groups: int) -> Iterator[tuple[int, int]]:
    """Successive terms, so many at a time that neither postings nor counts take much memory."""
    terms = len(begins) - 1
    most = max(1, CELLS_AT_ONCE // max(groups, 1))
    first = 0
    while first < terms:
        enough = int(np.searchsorted(begins, begins[first] + POSTINGS_AT_ONCE))
        last = min(terms, first + most, max(first + 1, enough))
        yield first, last
        first = last


def usual_forms(words: InvertedIndex, model: EmbeddingModel) -> list[str]:
    """Of the forms of each term the one that the model's corpus has most of; else the shortest."""
    names = words.words.words
    numbers = model.vocabulary.ids(names)
    often = np.where(numbers >= 0, model.statistics.token_counts[numbers], 0)
    order = np.lexsort((np.diff(words.words.offsets), -often, words.stems.groups))
    _, firsts = np.unique(words.stems.groups[order], return_index=True)
    return [names[place] for place in order[firsts].tolist()]


def from_texts(collection: Collection, labels: Int32s, groups: int, seed: int) -> TermCounts:
    """The counts of some documents of each group, whose texts are read."""
    rng = np.random.default_rng(seed)
    most = max(FEWEST_TO_READ, min(MEMBERS_TO_READ, TEXTS_TO_READ // max(groups, 1)))
    members = [np.flatnonzero(labels == group) for group in range(groups)]
    some = [
        rows if len(rows) <= most else np.sort(rng.choice(rows, most, replace=False))
        for rows in members
    ]
    # All at once: each part of a file is read once, not once for each group.
    rows = np.concatenate([np.zeros(0, np.int64), *some])
    texts = collection.documents(rows).column("text").to_pylist()
    counts = [Counter[str]() for _ in range(groups)]
    for group, text in zip(labels[rows].tolist(), texts, strict=True):
        counts[group].update(set(words_of(collection.model.tokenize(text))))
    places = {word: place for place, word in enumerate(dict.fromkeys(w for c in counts for w in c))}
    cells = [(places[w], group, n) for group, c in enumerate(counts) for w, n in c.items()]
    row, column, value = np.array(cells, np.int64).reshape(-1, 3).T
    matrix = sparse.csc_matrix((value, (row, column)), (len(places), groups))
    return TermCounts(list(places), matrix, np.array([len(rows) for rows in some], np.int64))


def words_of(parted: Tokenized) -> Iterator[str]:
    """The words of a text, and in a script without spaces each two characters side by side."""
    yield from parted.words
    for first, last in parted.origins:
        if last > first:
            yield "".join(parted.words[first : last + 1])
