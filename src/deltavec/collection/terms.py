"""Which term each word of new documents belongs to.

Stems are learned when a collection is built. Words that come later follow the same rules: a word
that is known keeps its term, a new one joins the forms of a known word or starts a term, and no two
terms become one. Only words with the same first letters can be forms of one, so only these are
compared.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from deltavec.collection.topics.names import function_words
from deltavec.core.arrays import Int32s, offsets_of
from deltavec.core.kernels import hashing
from deltavec.core.learning.stemming import Rules, Stems, WordRows, learn_stems
from deltavec.core.model import EmbeddingModel
from deltavec.core.text.rules import is_marked
from deltavec.core.vocabulary import Vocabulary
from deltavec.search.lexical.index import InvertedIndex, word_prefixes
from deltavec.search.lexical.writer import WordTerms


@lru_cache(maxsize=1)
def formless_words(model: EmbeddingModel) -> list[str]:
    """The words of a model that have no other forms."""
    words = bare_words(model.vocabulary, model).words
    counts = zip(words, model.statistics.document_counts.tolist(), strict=True)
    return sorted(function_words({word: n for word, n in counts if word[:1] != "\0"}))


def bare_words(vocabulary: Vocabulary, model: EmbeddingModel) -> Vocabulary:
    """The words as they are written; n-grams are replaced by numbers, which have no forms."""
    if not model.gram:
        return vocabulary
    words = enumerate(vocabulary.words)
    return Vocabulary.of(word[1:-1] if is_marked(word) else f"\0{n}" for n, word in words)


def word_rows(model: EmbeddingModel, vocabulary: Vocabulary) -> WordRows:
    """The rows of bare words in the embedding table of a model."""
    if model.gram:
        rows = WordRows.of_texts(vocabulary, model)
    else:
        rows = WordRows.of(vocabulary, model.vocabulary, model.table)
    function = vocabulary.ids(formless_words(model))
    return rows._replace(formless=function[function >= 0])


def first_terms(model: EmbeddingModel, vocabulary: Vocabulary, stems: bool) -> WordTerms:
    """The terms of the first words of a collection."""
    found = Stems.none(len(vocabulary))
    if stems:
        bare = bare_words(vocabulary, model)
        found = learn_stems(bare, word_rows(model, bare))
    return WordTerms(found.groups, np.arange(len(vocabulary)), found.rules)


def further_terms(model: EmbeddingModel, index: InvertedIndex, vocabulary: Vocabulary) -> WordTerms:
    """The terms of the words of further documents."""
    groups = np.full(len(vocabulary), -1, np.int32)
    for segment in index.segments:
        if len(segment.words):
            table = segment.words.table
            ids = hashing.look_up_all(vocabulary.data, vocabulary.offsets, table)
            groups[ids >= 0] = segment.groups[ids[ids >= 0]]
    new = np.flatnonzero(groups < 0)
    if len(new):
        groups[new] = terms_of_new(model, index, vocabulary.taken(new))
    return WordTerms(groups, new, Rules.none())


def terms_of_new(model: EmbeddingModel, index: InvertedIndex, fresh: Vocabulary) -> Int32s:
    """The terms of words that no segment has."""
    prefixes = np.unique(word_prefixes(fresh))
    near = [np.flatnonzero(np.isin(one.prefixes, prefixes)) for one in index.segments]
    parts = [one.words.taken(some) for one, some in zip(index.segments, near, strict=True)]
    known = np.concatenate(
        [one.groups[some] for one, some in zip(index.segments, near, strict=True)]
    )
    lengths = np.concatenate([np.diff(part.offsets) for part in (*parts, fresh)])
    both = Vocabulary(np.concatenate([part.data for part in (*parts, fresh)]), offsets_of(lengths))
    before = np.unique(known, return_inverse=True)[1]
    stems = Stems(before.astype(np.int32), index.segments[0].rules)
    bare = bare_words(both, model)
    after = stems.extended(bare, word_rows(model, bare)).groups
    # Groups are numbered anew: those of known words have their terms, others get the next ones.
    terms = np.full(int(after.max(initial=-1)) + 1, -1, np.int64)
    terms[after[: len(known)]] = known
    unnamed = np.flatnonzero(terms < 0)
    terms[unnamed] = index.terms + np.arange(len(unnamed))
    return terms[after[len(known) :]].astype(np.int32)
