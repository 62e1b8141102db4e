r"""A parsed query, and the documents that match it best.

.. math:: s(q, d) = \frac{1}{\sigma_b} \sum_i q_i W_{di} + \frac{w}{\sigma_c}\, u_q \cdot u_d,
          \qquad w = .7

The first term is BM25 (`deltavec.search.lexical.index`), the second the cosine similarity. Each is
divided by its standard deviation, which is a constant of the query. Both are sums over the words of
the query, and so is the score: see `deltavec.collection.answers`. A semantic query has other
weights than a document: see `typed_weights`.

For words that are out of vocabulary, `suggestions` has known ones with a similar spelling.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from deltavec.collection.segment import TEXT, Documents
from deltavec.core.arguments import require_one_of, require_whole
from deltavec.core.arrays import Float64s, Int64s
from deltavec.core.explain import (
    Contributions,
    QuerySum,
    QueryWeights,
    decompose,
    known_words,
    query_sum,
)
from deltavec.core.model import EmbeddingModel
from deltavec.core.text.rules import is_marked
from deltavec.core.text.tokenize import Tokenized
from deltavec.core.threads import stop_if_cancelled
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError
from deltavec.search import Index
from deltavec.search.lexical.index import HybridQuery, TermStatistics
from deltavec.search.lexical.writer import StoredPostings
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.topk import TopDocuments, best_documents

Mask: TypeAlias = npt.NDArray[np.bool_]

BY = ("hybrid", "keyword", "semantic")
COSINE_WEIGHT = 0.7  # w
LEAST_WEIGHT = 1e-3  # of a direction
MOST_TERMS = 1024  # of a query, as in Lucene; each of them traverses its postings
QUOTED = re.compile(r'"([^"\s]+)"')
TYPED = 8  # words of a typed query at most; longer ones are prose, which quotes for other reasons
LOOKED_AT = 4  # times k: documents to look for a quoted word in at first, and then times more
BROAD, NEIGHBORS = 0.2, 10  # what the mean score of so many neighbors counts
NEIGHBORS_FILTER = "neighbors"

NO_TERMS = HybridQuery()
NO_TOKENS = Tokenized([], [], [])


@dataclass(frozen=True, eq=False)
class Query:
    """A parsed query.

    Attributes
    ----------
    by : str
        ``hybrid``, ``keyword`` or ``semantic``.
    tokens : Tokenized
        Its words, and the units that are embedded.
    terms : Tokenized
        Its words, as the inverted index counts them.
    lexical : HybridQuery
        The BM25 weights of the terms; empty for a semantic query.
    sum : QuerySum
        The sum that embeds it; empty for a keyword query.
    vector : ndarray of float64
        Its embedding.
    scale : float
        The factor of the cosine; 0 for a keyword query, or if the vector is zero.
    negated : list of list of str
        The terms of each word that a document must not contain.
    quoted : list of Tokenized
        The words between quotation marks, which a document must contain as written.
    model : EmbeddingModel
        The model that parsed it.
    k : int
        How many documents to find.
    excluded : int or None
        A row that is left out of the results.
    filter : str or None
        Which documents may be found: see `Collection.mask`.
    broad : bool
        Whether the scores of a document's neighbors count too: see `find_broad`.
    """

    by: str
    tokens: Tokenized
    terms: Tokenized
    lexical: HybridQuery
    sum: QuerySum
    vector: Float64s
    scale: float
    negated: list[list[str]]
    model: EmbeddingModel
    k: int = 10
    excluded: int | None = None
    filter: str | None = None
    quoted: list[Tokenized] = field(default_factory=list)
    broad: bool = False

    @property
    def embedded(self) -> Tokenized:
        """The tokens that its vector is made of."""
        return NO_TOKENS if self.by == "keyword" else self.tokens

    @functools.cached_property
    def contributions(self) -> Contributions:
        """What each word adds to the vector. Only explanations need it."""
        model = self.model
        apart = decompose(self.embedded, model.vocabulary, model.table, self.sum)
        return replace(apart, vector=self.vector)

    @property
    def unknown(self) -> list[str]:
        """The words that are out of vocabulary, each once."""
        indexed = set(self.lexical.words)
        known = known_words(self.embedded, self.sum.numbers)
        for term, (first, last) in zip(self.terms.units, self.terms.origins, strict=True):
            if term in indexed:
                known.update(self.terms.words[first : last + 1])
        return [word for word in dict.fromkeys(self.tokens.words) if word not in known]

    @property
    def is_empty(self) -> bool:
        """Whether no document can match."""
        return not len(self.lexical.terms) and not self.scale


class QueryStatistics(Protocol):
    """What a query is weighed with: statistics of terms, and of the vectors of documents."""

    @property
    def words(self) -> TermStatistics:
        """The terms."""

    @property
    def spread(self) -> Any:
        """How the cosines of documents with a query vary: it has ``cosine_std(vector)``."""


def make_ready(index: Index, words: StoredPostings) -> None:
    """Build what makes searches faster, so that no search has to."""
    index.pieces.make_quantized()
    _ = words.words.parts


def parse_query(
    query: str | Sequence[str],
    by: str | None,
    model: EmbeddingModel,
    words: QueryStatistics,
    k: int,
    filter: str | None,
) -> Query:
    """Tokenize a query, weigh its terms and embed it.

    In a text, a word with a hyphen before it (``storm -flood``) is one that documents must not
    contain, and one between quotation marks (``"storms"``) is one that they must contain as
    written. Quotation marks mean nothing around several words, or in a text of more than 8 words:
    long questions quote titles and terms. A semantic query has neither.
    """
    if not isinstance(query, str | list | tuple):
        raise InputError(f"a query is a text or a list of words, got {type(query).__name__}")
    require_whole("k", k)
    by = "hybrid" if by is None else by
    require_one_of("by", by, BY)
    lexical, terms = NO_TERMS, NO_TOKENS
    negated: list[list[str]] = []
    quoted: list[Tokenized] = []
    if by != "semantic":
        query, negated, quoted = split_operators(query, model)
        terms = model.terms(query)
        lexical = words.words.query(terms.units, ngrams=model.gram > 0)
        count = len(lexical.terms) + len(negated)
        if count > MOST_TERMS:
            raise InputError(
                f"a query may have {MOST_TERMS:,} different terms of the collection, got "
                f"{count:,}: search by 'semantic' for documents like a long text"
            )
    tokens = model.tokenize(query)
    embedded = NO_TOKENS if by == "keyword" else tokens
    weights = typed_weights(tokens, model, words) if by == "semantic" else None
    whole = query_sum(embedded, model.vocabulary, model.table, weights)
    scale = float(whole.vector.any())
    if scale and by != "semantic":
        scale = COSINE_WEIGHT / words.spread.cosine_std(whole.vector)
    return Query(
        by, tokens, terms, lexical, whole, whole.vector, scale, negated, model, k, None, filter,
        quoted,
    )  # fmt: skip


def typed_weights(
    tokens: Tokenized, model: EmbeddingModel, words: QueryStatistics
) -> QueryWeights | None:
    """The weights of a typed query that is answered by its vector alone.

    Units count by their burstiness. A typed query asks for details within a topic, so weak
    directions count more than for documents: each is divided by the root of its weight.
    """
    if model.recipe.needs_vectors:
        return None
    units = words.words.burstiness_of(tokens.units)
    return QueryWeights(units, np.maximum(model.table.direction_weights, LEAST_WEIGHT) ** -0.5)


def split_operators(
    query: str | Sequence[str], model: EmbeddingModel
) -> tuple[str | Sequence[str], list[list[str]], list[Tokenized]]:
    """A query without operators, the terms of each negated word, and the quoted words."""
    if not isinstance(query, str):
        return query, [], []
    quoted = [model.terms(word) for word in dict.fromkeys(QUOTED.findall(query))]
    kept: list[str] = []
    negated: dict[str, None] = {}
    for piece in query.replace('"', " ").split():
        if piece[0] == "-" and piece[1:2].isalpha():
            negated[piece[1:]] = None
        else:
            kept.append(piece)
    text = " ".join(kept) if negated else query
    is_typed = len(model.terms(text).words) <= TYPED if quoted else False
    terms = [whole_terms(model.terms(word), model) for word in negated]
    return text, terms, [word for word in quoted if word.words and is_typed]


def whole_terms(tokens: Tokenized, model: EmbeddingModel) -> list[str]:
    """The words of a text as they are indexed, without n-grams of them."""
    if not model.gram:
        return tokens.units
    return [unit for unit in tokens.units if is_marked(unit)] or tokens.units


def find_quoted(
    query: Query, find: Callable[[Sequence[Query]], list[TopDocuments]], store: Documents
) -> TopDocuments:
    """The best documents that contain the quoted words of a query as written.

    The best documents with any form of these words are looked at, and then more of them, until
    enough contain the words as written.
    """
    count = LOOKED_AT * query.k
    while True:
        stop_if_cancelled()
        [best] = find([replace(query, k=count)])
        matches = [
            place
            for place, text in enumerate(store.rows(best.numbers)[TEXT].to_pylist())
            if contains_all(query.model.terms(text or "").words, query.quoted)
        ]
        if len(matches) >= query.k or len(best.numbers) < count:
            chosen = np.array(matches[: query.k], np.int64)
            return TopDocuments(best.scores[chosen], best.numbers[chosen])
        count *= LOOKED_AT


def find_broad(
    query: Query, find: Callable[[Query], TopDocuments], index: Index, words: StoredPostings
) -> TopDocuments:
    r"""The best documents of a broad query: the neighbors of a document count, too.

    .. math:: s'_d = s_d + .2 \cdot \frac{1}{10} \sum_{n \in N_d} s_n,

    where :math:`N_d` are the ten documents nearest to d by cosine. Neighbors add at most
    :math:`.2\, s_1`, with :math:`s_1` the highest score of all. So more documents are looked at in
    the order of :math:`s_d` until the next one cannot be among the best, and the result is exact.
    """
    count, alone = LOOKED_AT * query.k, replace(query, negated=[], quoted=[], filter=None)
    highest = float(find(replace(alone, k=1)).scores.max(initial=0))
    while True:
        stop_if_cancelled()
        best = find(replace(query, k=count))
        totals = best.scores + BROAD * neighbor_scores(alone, best.numbers, index, words)
        order = np.lexsort((best.numbers, -totals))[: query.k]
        is_all = len(best.numbers) < count
        if is_all or totals[order[-1]] > best.scores[-1] + BROAD * highest:
            return TopDocuments(totals[order], best.numbers[order])
        count *= LOOKED_AT


def neighbor_scores(query: Query, rows: Int64s, index: Index, words: StoredPostings) -> Float64s:
    """The mean score of the ten documents nearest to each row; 0 for a document that is no hit."""
    vectors, scores = index.take(rows), np.zeros(len(index))
    near = index.search(vectors, NEIGHBORS + 1).ids
    others = np.argsort(near == rows[:, None], axis=1, kind="stable")[:, :NEIGHBORS]
    near = np.take_along_axis(near, others, axis=1)
    mask = np.zeros(len(index), bool)
    mask[near] = True
    wanted = replace(query, k=int(mask.sum()), filter=NEIGHBORS_FILTER, excluded=None)
    [found] = find_best([wanted], index, words, {NEIGHBORS_FILTER: mask})
    scores[found.numbers] = found.scores
    sums: Float64s = scores[near].sum(axis=1) / NEIGHBORS
    return np.where(vectors.any(axis=1), sums, 0)


def contains_all(words: list[str], quoted: list[Tokenized]) -> bool:
    """Whether these words contain all quoted ones; a rule may make several words of one."""
    joined = "\n".join(["", *words, ""])
    return all("\n".join(["", *word.words, ""]) in joined for word in quoted)


def find_best(
    queries: Sequence[Query],
    index: Index,
    words: StoredPostings,
    masks: Mapping[str, Mask],
    threads: int | None = None,
) -> list[TopDocuments]:
    """The best documents for each query; those with the same filter share a pass.

    Parameters
    ----------
    queries
        Each finds what it would find alone, to the last bit.
    index, words
        The vectors and the postings.
    masks
        Which documents each filter lets through.
    threads
        How many cores to use; all of them by default.
    """
    found = [TopDocuments(np.empty(0), np.empty(0, np.int64)) for _ in queries]
    # A query with negated or quoted words has a mask of its own and shares no pass.
    batches: dict[tuple[int, str | None], list[int]] = {}
    for place, query in enumerate(queries):
        if not query.is_empty:
            own = place if query.negated or query.quoted else -1
            batches.setdefault((own, query.filter), []).append(place)
    pieces = index.pieces
    for (_, filter), places in batches.items():
        batch = [queries[place] for place in places]
        mask = mask_of_words(batch[0], words, pieces, masks.get(filter or ""))
        wanted = [one.lexical._replace(vector=one.vector, scale=one.scale) for one in batch]
        most = max(query.k + (query.excluded is not None) for query in batch)
        best = best_documents(
            pieces,
            words.words,
            wanted,
            min(most, len(index) if mask is None else int(np.count_nonzero(mask))),
            allowed=pieces.physical_mask(mask),
            threads=threads,
        )
        for place, query, (scores, numbers) in zip(places, batch, best, strict=True):
            rows = pieces.logical(numbers)
            excluded = -1 if query.excluded is None else query.excluded
            kept = np.flatnonzero(rows != excluded)[: query.k]
            found[place] = TopDocuments(scores[kept], rows[kept])
    return found


def mask_of_words(
    query: Query, words: StoredPostings, pieces: ChunkedMatrix, mask: Mask | None
) -> Mask | None:
    """A mask, without documents that the negated and quoted words of a query rule out."""
    quoted = [whole_terms(word, query.model) for word in query.quoted]
    held = [[term for term in terms if len(term.encode()) > 1] for terms in quoted]
    live = slice(None) if pieces.live is None else pieces.live
    for is_negated, groups in ((True, query.negated), (False, [some for some in held if some])):
        for terms in groups:
            stop_if_cancelled()
            allowed = words.words.holding(terms)[live] != is_negated
            mask = allowed if mask is None else mask & allowed
    return mask


SHORTEST = 4  # letters; shorter words are one edit away from too many others
SHORTEST_FAR = 6  # letters of a word for which more than one edit is tried
SIMILAR = 0.8  # of difflib's ratio, which is about 1 - edits / letters
LETTERS = 64
WORDS_WITH_LETTERS = 1000
CORRECTED = 5  # unknown words for which known ones are looked for


def suggestions(unknown: Sequence[str], vocabulary: Vocabulary) -> dict[str, list[str]]:
    """For unknown words, the known ones with a similar spelling, if there are any."""
    near = {word: suggest(word, vocabulary) for word in unknown[:CORRECTED]}
    return {word: known for word, known in near.items() if known}


def suggest(word: str, vocabulary: Vocabulary, most: int = 3) -> list[str]:
    """Words of the vocabulary within one edit, the most frequent first; else similar ones.

    An edit inserts, deletes or replaces a letter, or swaps two. If there is no such word, and the
    word is long enough, words with the same first letter are compared.

    Examples
    --------
    >>> suggest("qiuet", Vocabulary.of(["room", "quiet"]))
    ['quiet']
    """
    if len(word) < SHORTEST:
        return []
    edits = list(dict.fromkeys(within_one_edit(word, common_letters(vocabulary))))
    ids = vocabulary.ids(edits)
    found = sorted(int(number) for number in ids if number >= 0)
    if found or len(word) < SHORTEST_FAR:
        return [vocabulary.word(number) for number in found[:most]]
    similar = [
        known
        for known in vocabulary.words
        if known[:1] == word[0] and abs(len(known) - len(word)) <= len(word) // 4
    ]
    return difflib.get_close_matches(word, similar, n=most, cutoff=SIMILAR)


def common_letters(vocabulary: Vocabulary) -> str:
    """The letters that the first words of a vocabulary are written with."""
    some = range(min(len(vocabulary), WORDS_WITH_LETTERS))
    counts = Counter(letter for number in some for letter in vocabulary.word(number))
    return "".join(letter for letter, _ in counts.most_common(LETTERS))


def within_one_edit(word: str, letters: str) -> Iterator[str]:
    """All strings within one edit of a word."""
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        for letter in letters:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
