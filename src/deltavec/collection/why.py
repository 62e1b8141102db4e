r"""Why a document was found: its score as a sum over the words of the query.

Each word of the query has a share for the document that holds it, in whatever form, and a share for
what the document means:

.. math:: s(q, d) = \sum_i \left( \frac{q_i W_{di}}{\sigma_b}
          + \frac{w}{\sigma_c} \frac{\alpha_i\, r_i \cdot u_d}{|c_q|} \right)
          - \frac{w}{\sigma_c} \frac{o \cdot u_d}{|c_q|},

the last term being the share of the corpus' centre, which is taken off every query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from deltavec.collection.query import Query, by_query_word
from deltavec.core.arrays import Float32s
from deltavec.core.explain import Contributions, WordPair, top_pairs
from deltavec.core.text.tokenize import Tokenized
from deltavec.search.lexical.storage import StoredPostings


class QueryWord(NamedTuple):
    """A word of the query, how often it stands there, and its shares of a document's score."""

    word: str
    occurrences: int
    keyword: float
    semantic: float

    @property
    def share(self) -> float:
        """Both shares together."""
        return self.keyword + self.semantic


@dataclass(frozen=True)
class SearchExplanation:
    """Why a document has its score.

    Attributes
    ----------
    by : str
        How was searched: ``hybrid``, ``keyword`` or ``semantic``.
    score : float
        The score; by meaning it is the cosine.
    words : tuple of QueryWord
        The words of the query that count, largest share first. Their shares and the centre's add
        up to the score.
    centre : float
        What taking the corpus' centre off the query adds.
    matched : tuple of str
        Words of the document that are words of the query, in whatever form.
    near : tuple of WordPair
        Other words: one of the query, one of the document, and what the two add to the score
        together; strongest first.
    unknown : tuple of str
        Words of the query that count for nothing.
    """

    by: str
    score: float
    words: tuple[QueryWord, ...]
    centre: float
    matched: tuple[str, ...]
    near: tuple[WordPair, ...]
    unknown: tuple[str, ...]


def explain_score(
    query: Query,
    words: StoredPostings | None,
    row: int,
    vector: Float32s,
    document: Tokenized,
    apart: Contributions,
    pairs: int,
) -> SearchExplanation:
    """Why one document has its score.

    Parameters
    ----------
    query
        What was asked for.
    words
        The words of the collection; None if it has none.
    row, vector
        The number of the document, and its vector.
    document, apart
        The document in words, and taken apart.
    pairs
        How many pairs of words that are near in meaning to list.
    """
    counted = query.words
    shares = words.words.shares(counted, row) if words and counted.words else np.zeros(0)
    exact = by_query_word(query.asked, dict(zip(counted.words, shares.tolist(), strict=True)))
    direction = vector.astype(np.float64)
    direction /= np.linalg.norm(direction) or 1.0
    asked = query.contributions
    meaning = dict(zip(asked.words, query.scale * (asked.terms @ direction), strict=True))
    centre = query.scale * float(asked.offset @ direction)
    often = Counter(query.asked.words)
    found = [
        QueryWord(word, often[word], exact.get(word, 0.0), float(meaning.get(word, 0.0)))
        for word in dict.fromkeys([*exact, *meaning])
    ]
    matched = shared_words(query, words, document)
    same = set(matched)
    left = [place for place, word in enumerate(apart.words) if word not in same]
    others = replace(apart, words=[apart.words[place] for place in left], terms=apart.terms[left])
    near = [
        pair._replace(share=query.scale * pair.share)
        for pair in top_pairs(asked, others, pairs if query.scale else 0)
    ]
    return SearchExplanation(
        query.by,
        sum(word.share for word in found) + centre,
        tuple(sorted(found, key=lambda word: -word.share)),
        centre,
        matched,
        tuple(near),
        tuple(query.unknown),
    )


def document_shares(
    query: Query,
    words: StoredPostings | None,
    row: int,
    document: Tokenized,
    cosine_shares: Mapping[str, float],
) -> dict[str, float]:
    """What each word of a document adds to its score: to shade the words of its text by.

    Parameters
    ----------
    query, words, row
        As for `explain_score`.
    document
        The document's words; forms of one share what it adds by how often they occur.
    cosine_shares
        What each adds to the cosine with the query.
    """
    shares = {word: query.scale * share for word, share in cosine_shares.items()}
    if words is None or not query.words.words:
        return shares
    index = words.words
    by_term = np.bincount(
        query.words.places, index.shares(query.words, row), minlength=len(query.words.terms)
    )
    worth = dict(zip(query.words.terms.tolist(), by_term.tolist(), strict=True))
    counts = Counter(document.units)
    term_of = {word: term for word, term in terms_of(words, list(counts)) if term in worth}
    totals: Counter[int] = Counter()
    for word, term in term_of.items():
        totals[term] += counts[word]
    own = {unit: worth[term] * counts[unit] / totals[term] for unit, term in term_of.items()}
    for word, share in by_query_word(document, own).items():
        shares[word] = shares.get(word, 0.0) + share
    return shares


def terms_of(words: StoredPostings, some: list[str]) -> list[tuple[str, int]]:
    """These units, as far as they are searched for, each with its term."""
    long = [word for word in some if len(word.encode("utf-8", "replace")) > 1]
    ids = words.words.words.ids(long)
    groups = words.words.stems.groups
    return [(w, int(groups[n])) for w, n in zip(long, ids.tolist(), strict=True) if n >= 0]


def shared_words(
    query: Query, words: StoredPostings | None, document: Tokenized
) -> tuple[str, ...]:
    """The words of a document that are words of the query, in whatever form."""
    if words is None or not query.words.words:
        asked = set(query.contributions.words)
        return tuple(word for word in dict.fromkeys(document.words) if word in asked)
    wanted = set(query.words.terms.tolist())
    units = list(dict.fromkeys(document.units))
    held = {unit: 1.0 for unit, term in terms_of(words, units) if term in wanted}
    return tuple(by_query_word(document, held))
