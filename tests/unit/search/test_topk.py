"""Sums of words and meaning: the same documents and scores, whichever words are left for later."""

import numpy as np
import pytest

from deltavec.core.learning.stemming import Rules
from deltavec.core.vocabulary import Vocabulary
from deltavec.search.lexical.index import HybridQuery, InvertedIndex, PostingsSegment
from deltavec.search.lexical.kernels import Postings, QueryTerms, add_query_scores
from deltavec.search.matrix import ChunkedMatrix
from deltavec.search.quantized.build import quantize
from deltavec.search.topk import ALL, Sizes, best_documents
from support.search_strategies import unit_rows

pytestmark = pytest.mark.nojit  # hybrid search
DOCUMENTS, TERMS = 700, 12


def word_query(terms, weights):
    none = np.zeros(0, np.int64)
    highest = np.ones(len(terms))
    return HybridQuery((), none, none, np.array(terms, np.int64), np.array(weights, float), highest)


def drawn_index(rng):
    """Postings of frequent and of rare terms."""
    held = [np.flatnonzero(rng.random(DOCUMENTS) < 0.9 / (term + 1)) for term in range(TERMS)]
    documents = np.concatenate(held).astype(np.int32)
    begins = np.cumsum([0, *map(len, held), 0])
    counts = rng.integers(1, 4, len(documents)).astype(np.uint8)
    lengths = rng.integers(5, 50, DOCUMENTS).astype(np.int32)
    vocabulary = Vocabulary.of([f"w{term}" for term in range(TERMS)])
    numbers, lists = np.arange(TERMS, dtype=np.int32), Postings(begins, documents, counts)
    segment = PostingsSegment(vocabulary, numbers, Rules.none(), numbers, lists, lengths)
    return InvertedIndex((segment,), (np.zeros(0, np.int64),))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("queries", [1, 3, 7])
@pytest.mark.parametrize("scale", [0.0, 4.0])
@pytest.mark.parametrize("filtered", [None, 0.01, 0.6])
def test_blocks_sieves_and_light_words_change_no_bit(seed, queries, scale, filtered):
    rng = np.random.default_rng(seed)
    index, vectors = drawn_index(rng), unit_rows(rng.standard_normal((DOCUMENTS, 6)))
    mask = rng.random(DOCUMENTS) < (filtered or 1)
    allowed = np.flatnonzero(mask)
    wanted = []
    for _ in range(queries):
        terms = np.sort(rng.permutation(TERMS)[:9])
        words = word_query(terms, 3.0 ** -rng.permutation(9))
        wanted.append(words._replace(vector=unit_rows(rng.standard_normal((1, 6)))[0], scale=scale))
    pieces = ChunkedMatrix.of(vectors, "vectors")
    pieces.quantized[0].made = quantize(vectors)
    where = mask.view(np.uint8) if filtered else ALL
    for cut in (Sizes(), Sizes(lexical_scores=100, candidate_rows=90, scan_worth_a_thread=1)):
        best = best_documents(pieces, index, wanted, 5, allowed=where, threads=2, sizes=cut)
        for one, found in zip(wanted, best, strict=True):
            scores = np.empty(DOCUMENTS)
            terms, weights = one.terms, one.weights
            none = np.zeros(len(terms), np.uint8)
            [(segment, norms)] = index.parts
            own = QueryTerms(
                segment.postings, norms, np.array([0]), np.array([len(terms)]), terms, weights,
                weights, none, np.zeros(1),
            )  # fmt: skip
            add_query_scores(own, 0, False, 0, scores)
            if scale:
                wide = vectors.astype(np.float64)
                direction = one.vector.astype(np.float64)
                dots = np.add.accumulate(wide * direction, axis=1)[:, -1]
                squares = np.add.accumulate(wide * wide, axis=1)[:, -1]
                square = np.add.accumulate(direction * direction)[-1]
                cosines = (dots / np.sqrt(square * squares)).astype(np.float32)
                scores = scale * cosines.astype(np.float64) + scores
            hits = allowed if scale else allowed[scores[allowed] > 0]
            order = hits[np.lexsort((hits, -scores[hits]))][:5]
            assert found.numbers.tolist() == order.tolist()
            assert found.scores.tolist() == scores[order].tolist()
