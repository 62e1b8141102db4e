"""Rows, queries and their sieve for tests, small enough to be checked by hand."""

import numpy as np

from deltavec.core.arrays import offsets_of
from deltavec.search.hybrid.bounds import HybridTerms
from deltavec.search.kernels import Queries, TopK
from deltavec.search.lexical.kernels import Postings, QueryTerms
from deltavec.search.quantized.build import quantize, quantize_queries

NONE = np.empty(0, np.int64)
ALL = np.empty(0, np.uint8)
VECTORS = np.array([[1, 0], [0, 1], [0.6, 0.8], [0, 0]], np.float32)


def nothing_found(queries, k, kind=np.float32):
    return TopK(
        np.full((queries, k), -np.inf, kind),
        np.full((queries, k), 999),
        np.zeros(queries, np.int64),
    )


def hits(best, query=0):
    size = best.sizes[query]
    found = zip(best.scores[query, :size].tolist(), best.ranks[query, :size].tolist(), strict=True)
    return sorted(found, key=lambda pair: (-pair[0], pair[1]))


def asked(vectors, rows=VECTORS):
    made = quantize(rows, 1)
    queries = Queries(vectors, np.full(len(vectors), 1e-5, np.float32))
    return quantize_queries(vectors, 1e-6, 1e-6, made, 1e-5, ALL), queries


def hybrid_terms(words, scale):
    """A query of these words with a factor of the cosine; no term may be left out."""
    return HybridTerms(words, np.zeros(1), np.array([scale]))


def words_of(held, weights, norms):
    """One query that has all terms; each document holds them once."""
    documents = np.array([number for one in held for number in one], np.int32)
    lists = Postings(
        offsets_of([len(one) for one in held]), documents, np.zeros(len(documents), np.uint8)
    )
    begins, terms = np.array([0, len(held)]), np.arange(len(held))
    return QueryTerms(lists, norms, begins, terms, np.array(weights), np.zeros(len(held), np.uint8))
