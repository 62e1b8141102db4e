r"""What groups of documents are called: the words that tell each from its neighbors.

With :math:`p_{ig}` the share of the documents of group g that hold word i, :math:`\bar p_{ig}` its
share of all others, h the group nearest to g, and :math:`m_g` the direction of g,

.. math:: \mathrm{worth}_{ig} = p_{ig}\, \tfrac{1}{2}\left(\ln\frac{p_{ig}}{\bar p_{ig}}
          + \ln\frac{p_{ig}}{p_{ih}}\right) \cos(w_i, m_g) .

The first factor asks that many documents of the group hold the word, the second that others do not,
those next to it least of all; and the third that it means what the group is about, with
:math:`w_i` the vector of the word by itself. Words without a letter are left out.

So are function words: articles, pronouns, prepositions, conjunctions, auxiliaries, particles. They
name no topic, although some distinguish groups well: *she* and *her* set a group of portraits
apart. These classes are closed, so they can be listed. Unlike common lists of stop words, the lists
have no content words (*fire*, *bill*, *system*). A list counts only if the documents are in its
language: *war* is a function word in German alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int32s, Int64s, blocks
from deltavec.core.text.rules import are_unspaced, is_marked
from deltavec.search.lexical.index import InvertedIndex

if TYPE_CHECKING:
    from scipy import sparse

    from deltavec.collection.collection import Collection
    from deltavec.core.model import EmbeddingModel

CANDIDATES = 100  # words of a group whose meaning is looked at, and as many as are asked for
SHORTEST_STEM = 3  # characters that make of two words forms of one, if
LONGEST_ENDING = 2  # the other has only so many more
# A language is present if its words make up more than this share of all (document, word) pairs,
# beyond the words of languages found before it.
WRITTEN = 0.08
FEWEST = 5  # different ones; *sea* alone is not Spanish

LANGUAGE = re.compile(r"^\[(\w+)\]$", re.MULTILINE)
POSTINGS_AT_ONCE = 1 << 22
CELLS_AT_ONCE = 1 << 24  # of terms by groups: 128 MB


def group_names(collection: Collection, labels: Int32s, *, words: int = 5) -> list[list[str]]:
    """The words that name each group of documents, strongest first.

    Any groups can be named: clusters, regions of a map, values of a column.

    Parameters
    ----------
    collection
        Where the documents are.
    labels
        The group of each document, from 0 on; -1 for one that is in none.
    words
        How many words name a group at most.
    """
    groups = int(labels.max(initial=-1)) + 1
    directions = mean_directions(collection.index.vectors, labels, groups)
    held = count_terms(collection, labels, groups)
    nameable = naming_words(held)
    totals = np.asarray(held.counts.sum(axis=1)).ravel()
    cosines = directions @ directions.T
    np.fill_diagonal(cosines, -np.inf)
    nearest = cosines.argmax(axis=1).tolist() if groups > 1 else [None] * groups
    candidates = [
        strongest(held, totals, nameable, group, neighbor, CANDIDATES + words)
        for group, neighbor in enumerate(nearest)
    ]
    places = np.unique(np.concatenate([np.zeros(0, np.int64), *(one for one, _ in candidates)]))
    meant = collection.model.embed([[held.words[place]] for place in places.tolist()])
    names = []
    for (mine, worth), direction in zip(candidates, directions, strict=True):
        worth = worth * (meant[np.searchsorted(places, mine)] @ direction)
        order = np.argsort(-worth, kind="stable")
        ranked = [held.words[place] for place in mine[order[worth[order] > 0]].tolist()]
        names.append(different(ranked, words))
    return names


def naming_words(held: TermCounts) -> Int64s:
    """Which words may name a group: no function words, and two characters at least, one a letter.

    Returns
    -------
    ndarray of int64
        Their places, ascending.
    """
    totals = np.asarray(held.counts.sum(axis=1)).ravel().tolist()
    left_out = function_words(dict(zip(held.words, totals, strict=True)))
    places = [
        place
        for place, word in enumerate(held.words)
        if len(word) > 1 and any(map(str.isalpha, word)) and word not in left_out
    ]
    return np.array(places, np.int64)


def strongest(
    held: TermCounts,
    totals: Float64s,
    nameable: Int64s,
    group: int,
    neighbor: int | None,
    count: int,
) -> tuple[Int64s, Float64s]:
    """The words that tell a group best, and how well: the first two factors above."""
    column = held.counts[:, group]
    places, first, _ = np.intersect1d(
        column.indices, nameable, assume_unique=True, return_indices=True
    )
    mine = column.data[first]
    size, everywhere = int(held.sizes[group]), int(held.sizes.sum())
    share = mine / max(size, 1)
    worth = share
    if neighbor is not None:
        # Half a document more on the other side, so that no ratio is infinite.
        others = (totals[places] - mine + 0.5) / (everywhere - size + 1)
        beside = held.counts[:, neighbor].toarray().ravel()[places]
        nearby = (beside + 0.5) / (int(held.sizes[neighbor]) + 1)
        worth = share * np.maximum(np.log(share / others) + np.log(share / nearby), 0) / 2
    order = np.argsort(-worth, kind="stable")[:count]
    return places[order].astype(np.int64), worth[order]


def different(words: Sequence[str], count: int) -> list[str]:
    """The first words, without forms of those before."""
    kept: list[str] = []
    for word in words:
        if not any(are_forms(word, before) for before in kept):
            kept.append(word)
    return kept[:count]


def are_forms(a: str, b: str) -> bool:
    """Whether two words seem to be forms of one: one is the other with a short ending."""
    short, long = sorted((a, b), key=len)
    short_enough = len(long) - len(short) <= LONGEST_ENDING
    return len(short) >= SHORTEST_STEM and short_enough and long.startswith(short)


def mean_directions(vectors: Float32s, labels: Int32s, groups: int) -> Float64s:
    """The direction of the mean of each group; zeros for one without members."""
    sums = np.zeros((groups, vectors.shape[1]))
    for rows in blocks(len(vectors)):
        here = labels[rows]
        for group in np.unique(here[here >= 0]):
            sums[group] += vectors[rows][here == group].sum(axis=0, dtype=np.float64)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    return sums / np.where(lengths > 0, lengths, 1)


@cache
def word_lists() -> Mapping[str, frozenset[str]]:
    """The function words of each language, from ``function_words.txt``."""
    text = files("deltavec.collection.topics").joinpath("function_words.txt").read_text("utf-8")
    _, *parts = LANGUAGE.split(text)
    lists = zip(parts[::2], parts[1::2], strict=True)
    return {language: frozenset(words.split()) for language, words in lists}


def function_words(held: Mapping[str, int]) -> frozenset[str]:
    """The function words of the languages that documents are written in.

    Parameters
    ----------
    held
        How many documents hold each word.
    """
    total = sum(held.values())
    known: frozenset[str] = frozenset()
    while True:
        # Languages share short words: count only those that no earlier list has.
        more = [words - known for words in word_lists().values()]
        often = [[held[word] for word in words if held.get(word)] for words in more]
        shares = [sum(counts) if len(counts) >= FEWEST else 0 for counts in often]
        best = max(shares)
        if best <= WRITTEN * total:
            return known
        known |= more[shares.index(best)]


class TermCounts(NamedTuple):
    """How many documents of each group contain each word.

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


def count_terms(collection: Collection, labels: Int32s, groups: int) -> TermCounts:
    """How many documents of each group contain each word; from the postings, no text is read.

    Parameters
    ----------
    collection
        Where the documents are.
    labels
        The group of each document; -1 for one that is in none.
    groups
        How many groups there are.
    """
    from scipy import sparse

    pieces, words, model = collection.index.pieces, collection.words.words, collection.model
    live, labels = labels, np.full(len(pieces), -1, labels.dtype)
    labels[slice(None) if pieces.live is None else pieces.live] = live
    total = sparse.csr_matrix((words.terms, groups), dtype=np.int64)
    for segment, begin in zip(words.segments, words.begins.tolist(), strict=False):
        own = labels[begin : begin + len(segment.lengths)]
        begins, documents = segment.postings.begins[:-1], segment.postings.documents
        parts = [sparse.csr_matrix((0, groups), dtype=np.int64)]
        for first, last in term_blocks(begins, groups):
            held = documents[begins[first] : begins[last]]
            terms = np.repeat(np.arange(last - first), np.diff(begins[first : last + 1]))
            there = (held >= 0) & (held < len(own))  # a damaged file leads nowhere
            here = np.where(there, own[np.where(there, held, 0)], -1)
            cells = (terms * groups + here)[here >= 0]
            counts = np.bincount(cells, minlength=(last - first) * groups)
            parts.append(sparse.csr_matrix(counts.reshape(last - first, groups)))
        listed = sparse.vstack(parts, "coo")
        shape = words.terms, groups
        total += sparse.csr_matrix((listed.data, (segment.terms[listed.row], listed.col)), shape)
    sizes = np.bincount(labels[labels >= 0], minlength=groups)
    names = usual_forms(words, model)
    if model.gram:  # words, and no n-grams of them; those of scripts without spaces are not marked
        kept = [is_marked(name) or bool(are_unspaced(name).all()) for name in names]
        total = total[np.flatnonzero(kept)]
        names = [n[1:-1] if is_marked(n) else n for n, k in zip(names, kept, strict=True) if k]
    return TermCounts(names, sparse.csc_matrix(total), sizes)


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
    order = np.lexsort((np.diff(words.words.offsets), -often, words.groups))
    _, firsts = np.unique(words.groups[order], return_index=True)
    return [names[place] for place in order[firsts].tolist()]
