r"""A query read, and the best documents for it: by their words, by their meaning, or by both.

.. math:: s(q, d) = \frac{1}{\sigma_b} \sum_i q_i W_{di} + \frac{w}{\sigma_c}\, u_q \cdot u_d,
          \qquad w = .5

The first part is `deltavec.search.lexical.index`, the second the cosine over its own spread
(`deltavec.search.hybrid.score_scale`). Both spreads are constants of the query, and both parts sums
over its words, so that the score is one too: see `deltavec.collection.why`.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.collection.hits import Nearest
from deltavec.core.arguments import require_one_of, require_whole
from deltavec.core.arrays import Float64s, Int64s
from deltavec.core.explain import Contributions, QuerySum, decompose, query_sum
from deltavec.core.jit import BUDGET
from deltavec.core.model import EmbeddingModel
from deltavec.core.text.alignment import known_words
from deltavec.core.text.tokenize import Tokenized
from deltavec.errors import InputError
from deltavec.search import Index, fallback
from deltavec.search.hybrid.search import HybridQuery, best_documents, work_for
from deltavec.search.lexical.index import LexicalQuery
from deltavec.search.lexical.storage import StoredPostings
from deltavec.search.matrix import ChunkedMatrix

BY = ("hybrid", "keyword", "semantic")
MEANING = 0.5  # what the cosine weighs beside the words: w

NO_NUMBERS = np.zeros(0, np.int64)
NO_VECTOR = np.zeros(0, np.float32)
NO_WORDS = LexicalQuery([], NO_NUMBERS, NO_NUMBERS, NO_NUMBERS, np.zeros(0), [])


@dataclass(frozen=True, eq=False)
class Query:
    """A query, read.

    Attributes
    ----------
    by : str
        ``hybrid``, ``keyword`` or ``semantic``.
    asked : Parted
        What is looked for, in words and in the units that are counted.
    words : WordQuery
        What these units are worth; none if it asks by meaning.
    directed : Parted
        What of it has a direction: all of it, or nothing if it asks by words.
    sum : UnitSum
        That, summed up.
    vector : ndarray of float64
        Its direction.
    scale : float
        What the cosine is multiplied with; 0 if it asks by words, or has no direction.
    without : list of list of str
        The units of words that a document must not hold.
    model : EmbeddingModel
        What read it.
    """

    by: str
    asked: Tokenized
    words: LexicalQuery
    directed: Tokenized
    sum: QuerySum
    vector: Float64s
    scale: float
    without: list[list[str]]
    model: EmbeddingModel

    def towards(self, vector: npt.NDArray[np.floating]) -> Query:
        """The same in another direction, such as that of a document."""
        return replace(self, vector=vector.astype(np.float64), scale=float(vector.any()))

    @functools.cached_property
    def contributions(self) -> Contributions:
        """It taken apart into its words: for explanations alone, as it takes as long as to read."""
        apart = decompose(self.directed, self.model.vocabulary, self.model.folded)
        return replace(apart, vector=self.vector)

    @property
    def unknown(self) -> list[str]:
        """The words that count for nothing, each once."""
        held = set(self.words.words)
        known = known_words(self.directed, self.sum.numbers)
        for unit, (first, last) in zip(self.asked.units, self.asked.origins, strict=True):
            if unit in held:
                known.update(self.asked.words[first : last + 1])
        return [word for word in dict.fromkeys(self.asked.words) if word not in known]

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to look for."""
        return not len(self.words.terms) and not self.scale


def make_ready(index: Index, words: StoredPostings | None) -> None:
    """Make now what searches are quicker with, so that none of many has to."""
    index.pieces.make_quantized()
    if words is not None:
        words.words.max_impacts.make(words.words.postings, words.words.norms)


def require_query(query: object) -> None:
    """Refuse what is neither a text nor a list of words."""
    if not isinstance(query, str | list | tuple):
        raise InputError(f"a query is a text or a list of words, got {type(query).__name__}")


def by_query_word(parted: Tokenized, of_units: Mapping[str, float]) -> dict[str, float]:
    """What is given for units of a text, added up for its words; a unit of two counts half each."""
    often = Counter(parted.units)
    found: dict[str, float] = {}
    for unit, (first, last) in zip(parted.units, parted.origins, strict=True):
        if unit in of_units:
            share = of_units[unit] / often[unit] / (last - first + 1)
            for word in parted.words[first : last + 1]:
                found[word] = found.get(word, 0.0) + share
    return found


def search_mode(by: str | None, words: StoredPostings | None, name: object) -> str:
    """How to search: as asked for, if the collection can, or as well as it can."""
    if by is None:
        return "hybrid" if words else "semantic"
    require_one_of("by", by, BY)
    if by != "semantic" and words is None:
        raise InputError(
            f"{name} has no words to search by, only meaning: it was built without them, or by an "
            "older deltavec; add them with `deltavec index words` (Collection.with_words)"
        )
    return by


def read_query(
    query: str | Sequence[str], by: str, model: EmbeddingModel, words: StoredPostings | None
) -> Query:
    """What is asked for.

    A word with a hyphen before it, as in ``storm -flood``, is one that documents must not hold;
    not so in a list of words, nor by meaning alone.
    """
    require_query(query)
    if by == "semantic" or words is None:
        asked = model.tokenize(query)
        whole = query_sum(asked, model.vocabulary, model.folded)
        scale = float(whole.vector.any())
        return Query(by, asked, NO_WORDS, asked, whole, whole.vector, scale, [], model)
    asked, without = split_negated(query, model)
    directed = asked if by == "hybrid" else Tokenized([], [], [])
    whole = query_sum(directed, model.vocabulary, model.folded)
    scale = MEANING / words.spread.cosine_std(whole.vector) if whole.vector.any() else 0.0
    counted = words.words.query(asked.units)
    return Query(by, asked, counted, directed, whole, whole.vector, scale, without, model)


def split_negated(
    query: str | Sequence[str], model: EmbeddingModel
) -> tuple[Tokenized, list[list[str]]]:
    """The words of a query that are looked for, and those that must not be there."""
    if not isinstance(query, str):
        return model.tokenize(list(query)), []
    pieces = query.split()
    refused = [piece for piece in pieces if piece[0] == "-" and piece[1:2].isalpha()]
    if not refused:
        return model.tokenize(query), []
    kept = [piece for piece in pieces if piece not in refused]
    return model.tokenize(" ".join(kept)), [model.tokenize(piece[1:]).units for piece in refused]


class QueryRequest(NamedTuple):
    """One of the searches that are answered together.

    Attributes
    ----------
    k : int
        How many documents to find.
    vector : ndarray of float32
        The direction, if it goes by meaning alone; nothing is near one of zeros.
    query : Query or None
        What is asked for otherwise.
    without : int or None
        A row that is left out, by meaning.
    """

    k: int
    vector: npt.NDArray[np.float32]
    query: Query | None = None
    without: int | None = None

    @property
    def is_alone(self) -> bool:
        """Whether documents of its own are left out, so that it shares no pass with others."""
        return self.query is not None and bool(self.query.without)


def answers_to(
    asked: Sequence[QueryRequest],
    index: Index,
    words: StoredPostings | None,
    *,
    mask: npt.NDArray[np.bool_] | None = None,
    threads: int | None = None,
) -> list[Nearest]:
    """The best documents for each search, all of them found in one pass over the documents.

    Parameters
    ----------
    asked
        What is looked for. Each finds what it would find alone, to the last bit.
    index, words
        The documents.
    mask
        Which of them may be found.
    threads
        How many cores to use; all of them by default.
    """
    for one in asked:
        require_whole("k", one.k)
    found = [Nearest(np.empty(0, np.int64), np.empty(0)) for _ in asked]
    cosines = [place for place, one in enumerate(asked) if not one.query and one.vector.any()]
    if cosines:
        nearest = nearest_to([asked[place] for place in cosines], index, mask, threads)
        for place, hits in zip(cosines, nearest, strict=True):
            found[place] = hits
    queries = [place for place, one in enumerate(asked) if one.query and not one.query.is_empty]
    together = [place for place in queries if not asked[place].is_alone]
    for places in ([together] if together else []) + [[p] for p in queries if asked[p].is_alone]:
        if words is not None:
            best = best_for([asked[p] for p in places], words, index.pieces, mask, threads)
            for place, hits in zip(places, best, strict=True):
                found[place] = hits
    return found


def nearest_to(
    asked: Sequence[QueryRequest],
    index: Index,
    mask: npt.NDArray[np.bool_] | None,
    threads: int | None,
) -> list[Nearest]:
    """The documents nearest to each vector."""
    most = max(one.k + (one.without is not None) for one in asked)
    hits = index.search(np.array([one.vector for one in asked]), most, where=mask, threads=threads)
    found = []
    for one, rows, scores in zip(asked, hits.ids, hits.scores, strict=True):
        kept = slice(one.k) if one.without is None else np.flatnonzero(rows != one.without)[: one.k]
        found.append(Nearest(rows[kept], scores[kept]))
    return found


def best_for(
    asked: Sequence[QueryRequest],
    words: StoredPostings,
    pieces: ChunkedMatrix,
    mask: npt.NDArray[np.bool_] | None,
    threads: int | None,
) -> list[Nearest]:
    """The best documents for queries by words or by both, which leave out the same ones."""
    queries = [one.query for one in asked if one.query]
    refused = [words.words.holding(units) for units in queries[0].without]
    if refused:
        unwanted = np.logical_or.reduce(refused)
        mask = ~unwanted if mask is None else mask & ~unwanted
    chosen: Int64s | None = None if mask is None else np.flatnonzero(mask)
    count = len(pieces) if chosen is None else len(chosen)
    wanted = [HybridQuery(q.words, q.vector.astype(np.float32), q.scale) for q in queries]
    k = min(max(one.k for one in asked), count)
    if BUDGET.allows(work_for(pieces, words.words, wanted)):
        found = fallback.best_documents(pieces, words.words, wanted, k, chosen)
    else:
        found = best_documents(pieces, words.words, wanted, k, chosen=chosen, threads=threads)
    return [
        Nearest(best.numbers[: one.k], best.scores[: one.k])
        for one, best in zip(asked, found, strict=True)
    ]
