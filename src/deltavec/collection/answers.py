r"""Answers to queries: hits with their texts, excerpts and explanations.

Command line, Python and HTTP render the same `Hit`. Its explanation splits the score into one sum
per word of the query, a lexical share and a semantic one:

.. math:: s(q, d) = \sum_i \left( \frac{q_i W_{di}}{\sigma_b}
          + \frac{w}{\sigma_c} \frac{\alpha_i\, r_i \cdot u_d}{|c_q|} \right)
          - \frac{w}{\sigma_c} \frac{o \cdot u_d}{|c_q|},

where the last term is the share of the corpus center, which is subtracted from every query.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from deltavec.collection.query import Query, whole_terms
from deltavec.core.arrays import Float32s, Float64s, Int64s
from deltavec.core.explain import Contributions, Shares, WordPair, decompose, shares, top_pairs
from deltavec.core.model import EmbeddingModel
from deltavec.core.text.tokenize import Spans, Tokenized, find_spans, spans
from deltavec.notebook import table
from deltavec.search.lexical.writer import StoredPostings

SHOWN = 8  # words or hits in a repr
SENTENCE_END = re.compile(r"[.!?。！？]\s|\n")

Piece = tuple[str, float | None]
"""A part of a text; with a share if it is a known word."""


class Keyword(NamedTuple):
    """A word of a document, and its share of the document's own direction.

    Examples
    --------
    >>> [word.word for word in news.keywords("s7", 3)]
    ['by', 'wickets', 'ten']
    """

    word: str
    share: float


class QueryWord(NamedTuple):
    """A word of the query, how often it occurs there, and its shares of a document's score."""

    word: str
    occurrences: int
    keyword: float
    semantic: float

    @property
    def share(self) -> float:
        """The sum of both shares."""
        return self.keyword + self.semantic


@dataclass(frozen=True, repr=False)
class SearchExplanation:
    """Why a document has its score.

    Attributes
    ----------
    by : str
        The search mode: ``hybrid``, ``keyword`` or ``semantic``.
    score : float
        The score; the cosine in a semantic search.
    words : tuple of QueryWord
        The words of the query that count, largest share first. Their shares and the center's add
        up to the score.
    center : float
        The share of the corpus center, which is subtracted from the query.
    matched : tuple of str
        Words of the document that are words of the query, in any form.
    near : tuple of WordPair
        Pairs of a word of the query and another word of the document, with their share of the
        score; largest first.
    unknown : tuple of str
        Words of the query that are out of vocabulary.
    """

    by: str
    score: float
    words: tuple[QueryWord, ...]
    center: float
    matched: tuple[str, ...]
    near: tuple[WordPair, ...]
    unknown: tuple[str, ...]

    def __repr__(self) -> str:
        words = ", ".join(f"{one.word} {one.share:.2f}" for one in self.words[:SHOWN])
        more = ", ..." if len(self.words) > SHOWN else ""
        return f"SearchExplanation({self.by} score {self.score:.2f}: {words}{more})"

    def _repr_html_(self) -> str:
        rows: list[tuple[Any, ...]] = [
            (one.word, f"{one.share:.3f}", f"{one.keyword:.3f}", f"{one.semantic:.3f}")
            for one in self.words
        ]
        title = f"{self.by} score {self.score:.3f}"
        return table(title, ("word", "share", "keyword", "semantic"), rows)


class Excerpt(NamedTuple):
    """A passage of a text.

    Attributes
    ----------
    begin : int
        Its offset in the text.
    text : str
        The passage.
    pieces : list of (str, float or None), or None
        The passage cut at known words, each with its share of the score; None if the text was
        not analyzed.
    matched : tuple of str
        Words of the whole text that are words of the query, in any form.
    """

    begin: int
    text: str
    pieces: list[Piece] | None = None
    matched: tuple[str, ...] = ()


NO_EXCERPT = Excerpt(0, "")


@dataclass(frozen=True, repr=False)
class Hit:
    """A document that was found.

    Attributes
    ----------
    id : str
        Its id.
    score : float
        The cosine in a semantic search. Otherwise a sum that only compares documents found for the
        same query.
    text : str
        Its text.
    columns : dict
        The columns stored beside it.
    excerpt : Excerpt
        The passage that matches best; empty unless asked for.
    contributions : Shares or None
        What each of its words adds to its cosine with the query, if an explanation was asked for.
    why : SearchExplanation or None
        What each word of the query adds to the score, if an explanation was asked for.

    Examples
    --------
    >>> hit = news.search("cricket test", k=1)[0]
    >>> hit.id, hit.text, hit.columns
    ('s7', 'Australia won the first cricket test by ten wickets', {'year': 2001})
    """

    id: str
    score: float
    text: str
    columns: dict[str, Any]
    excerpt: Excerpt = NO_EXCERPT
    contributions: Shares | None = None
    why: SearchExplanation | None = None

    def __repr__(self) -> str:
        return f"Hit(id={self.id!r}, score={self.score:.2f}, text={shorten(self.text)!r})"


class HitList(list[Hit]):
    """Hits, best first; a list that prints in a few lines and is a table in a notebook."""

    def __repr__(self) -> str:
        shown = [f" {one!r}" for one in self[:SHOWN]]
        if len(self) > SHOWN:
            shown.append(f" ... {len(self) - SHOWN} more")
        return "[" + ",\n".join(shown).lstrip() + "]"

    def _repr_html_(self) -> str:
        rows: list[tuple[Any, ...]] = [
            (f"{one.score:.2f}", one.id, shorten(one.text, 160), *one.columns.values())
            for one in self
        ]
        columns = tuple(self[0].columns) if self else ()
        return table(f"{len(self)} hits", ("score", "id", "text", *columns), rows)


def shorten(text: str, most: int = 60) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most and len(text) <= 4 * most else line[: most - 1] + "…"


@dataclass(frozen=True, eq=False)
class AnalyzedText:
    """A text that is tokenized and embedded once, when that is needed."""

    model: EmbeddingModel
    text: str

    @cached_property
    def tokens(self) -> Tokenized:
        """Its words and units."""
        return self.model.tokenize(self.text)

    @cached_property
    def terms(self) -> Tokenized:
        """Its words, as the inverted index counts them."""
        return self.model.terms(self.text) if self.model.gram else self.tokens

    @cached_property
    def contributions(self) -> Contributions:
        """Its vector, and what each word adds to it."""
        return decompose(self.tokens, self.model.vocabulary, self.model.table)

    @cached_property
    def spans(self) -> Spans:
        """Its words and their offsets."""
        tokenizer = self.model.tokenizer
        if isinstance(tokenizer, str):
            return spans(self.text, tokenizer)
        return find_spans(self.text, self.tokens.words)


@dataclass(frozen=True, eq=False)
class Match(AnalyzedText):
    """A document and a query that it matches.

    Attributes
    ----------
    query : Query
        The query.
    words : StoredPostings
        The postings of the collection.
    row, vector
        The row of the document among all, deleted ones too, and its vector.
    """

    query: Query
    words: StoredPostings
    row: int
    vector: Float32s

    @cached_property
    def lexical(self) -> dict[str, float]:
        """What each term of the query adds to the score by BM25."""
        if not self.query.lexical.words:
            return {}
        added = self.words.words.shares(self.query.lexical, self.row)
        return dict(zip(self.query.lexical.words, added.tolist(), strict=True))

    @cached_property
    def matched(self) -> tuple[str, ...]:
        """The words of the document that are words of the query, in any form."""
        if not self.query.lexical.words:
            asked = set(self.query.contributions.words)
            return tuple(word for word in dict.fromkeys(self.tokens.words) if word in asked)
        wanted = set(self.query.lexical.terms.tolist())
        units = list(dict.fromkeys(whole_terms(self.terms, self.model)))
        held = {unit: 1.0 for unit, term in terms_of(self.words, units) if term in wanted}
        return tuple(sum_by_word(self.terms, held))

    def explain(self, pairs: int) -> SearchExplanation:
        """Why the document has its score, with so many pairs of related words."""
        query, asked = self.query, self.query.contributions
        keyword = sum_by_word(query.terms, self.lexical)
        direction = self.vector.astype(np.float64)
        direction /= np.linalg.norm(direction) or 1.0
        semantic = dict(zip(asked.words, query.scale * (asked.terms @ direction), strict=True))
        center = query.scale * float(asked.offset @ direction)
        counts = Counter(query.tokens.words)
        found = [
            QueryWord(word, counts[word], keyword.get(word, 0.0), float(semantic.get(word, 0.0)))
            for word in dict.fromkeys([*keyword, *semantic])
        ]
        same, apart = set(self.matched), self.contributions
        left = [place for place, word in enumerate(apart.words) if word not in same]
        others = replace(apart, words=[apart.words[n] for n in left], terms=apart.terms[left])
        near = top_pairs(asked, others, pairs if query.scale else 0)
        return SearchExplanation(
            query.by,
            sum(word.share for word in found) + center,
            tuple(sorted(found, key=lambda word: -word.share)),
            center,
            self.matched,
            tuple(pair._replace(share=query.scale * pair.share) for pair in near),
            tuple(query.unknown),
        )

    def shares(self) -> dict[str, float]:
        """What each word of the document adds to its score.

        Forms of one term share what it adds by how often they occur.
        """
        cosine_shares = shares(self.contributions, self.query.vector).by_word
        added = {word: self.query.scale * share for word, share in cosine_shares.items()}
        if not self.lexical:
            return added
        lexical, values = self.query.lexical, np.array([*self.lexical.values()])
        by_term = np.bincount(lexical.places, values, minlength=len(lexical.terms))
        worth = dict(zip(lexical.terms.tolist(), by_term.tolist(), strict=True))
        counts = Counter(self.terms.units)
        term_of = {unit: term for unit, term in terms_of(self.words, list(counts)) if term in worth}
        totals: Counter[int] = Counter()
        for unit, term in term_of.items():
            totals[term] += counts[unit]
        own = {unit: worth[term] * counts[unit] / totals[term] for unit, term in term_of.items()}
        for word, share in sum_by_word(self.terms, own).items():
            added[word] = added.get(word, 0.0) + share
        return added

    def excerpt(self, length: int) -> Excerpt:
        """The passage of so many characters that matches best, cut at the words that count."""
        shown = excerpt(self.text, self.spans, self.shares(), length)
        return shown._replace(matched=self.matched)


def sum_by_word(tokens: Tokenized, of_units: Mapping[str, float]) -> dict[str, float]:
    """Values of units, summed for the words they come from; a unit of two words is halved."""
    counts = Counter(tokens.units)
    found: dict[str, float] = {}
    for unit, (first, last) in zip(tokens.units, tokens.origins, strict=True):
        if unit in of_units:
            share = of_units[unit] / counts[unit] / (last - first + 1)
            for word in tokens.words[first : last + 1]:
                found[word] = found.get(word, 0.0) + share
    return found


def terms_of(words: StoredPostings, units: list[str]) -> list[tuple[str, int]]:
    """The units that are indexed, each with its term."""
    long = [unit for unit in units if len(unit.encode("utf-8", "replace")) > 1]
    terms = words.words.terms_of(long).tolist()
    return [(unit, term) for unit, term in zip(long, terms, strict=True) if term >= 0]


def excerpt(text: str, found: Spans, shares: Mapping[str, float], length: int) -> Excerpt:
    """The passage of at most this many characters with the largest sum of shares."""
    begin = 0
    if len(text) > length and found.words:
        gains = np.array([shares.get(word, 0.0) for word in found.words]).clip(min=0)
        begin = best_begin(found, gains, sentence_starts(text, found), length)
    end = min(len(text), begin + length)
    return Excerpt(begin, text[begin:end], pieces(text, found, shares, begin, end))


def sentence_starts(text: str, found: Spans) -> Int64s:
    """The positions of the words that begin a sentence; the first word always does."""
    ended = [match.end() for match in SENTENCE_END.finditer(text)]
    following = np.unique(np.searchsorted(found.begins, [0, *ended]))
    return following[following < len(found.begins)]


def best_begin(found: Spans, gains: Float64s, starts: Int64s, length: int) -> int:
    """The offset of the passage with the largest sum of gains; the first of equal ones.

    It begins with a sentence, unless another passage has more than twice the sum. A quarter of such
    a passage is context before its first gain.
    """
    sums = np.concatenate([[0.0], np.cumsum(gains)])

    def gained(words: Int64s, length: int) -> Float64s:
        last = np.searchsorted(found.ends, found.begins[words] + length, side="right")
        total: Float64s = sums[np.maximum(last, words)] - sums[words]
        return total

    at_sentences = gained(starts, length)
    gaining = np.flatnonzero(gains)
    at_words = gained(gaining, length - length // 4)
    if at_words.max(initial=0.0) > 2 * at_sentences.max():
        earliest = found.begins[gaining[at_words.argmax()]] - length // 4
        return int(found.begins[np.searchsorted(found.begins, earliest)])
    chosen = int(at_sentences.argmax())
    return int(found.begins[starts[chosen]]) if chosen else 0


def pieces(
    text: str, found: Spans, shares: Mapping[str, float], begin: int, end: int
) -> list[Piece]:
    """The text between two offsets in pieces; neighbors without a share are one piece."""
    cut: list[Piece] = []
    done = begin
    first, last = np.searchsorted(found.begins, begin), np.searchsorted(found.ends, end, "right")
    inside = slice(int(first), int(last))
    places = zip(found.begins[inside].tolist(), found.ends[inside].tolist(), strict=True)
    for word, (start, stop) in zip(found.words[inside], places, strict=True):
        if word not in shares:
            continue
        if start > done:
            cut.append((text[done:start], None))
        cut.append((text[start:stop], shares[word]))
        done = stop
    return [*cut, (text[done:end], None)] if done < end else cut
