"""Rows, queries and their codes for tests, small enough to be checked by hand."""

import numpy as np

from deltavec.core.arrays import offsets_of
from deltavec.search.kernels import Queries, Rows, TopK
from deltavec.search.lexical.kernels import Postings, QueryTerms
from deltavec.search.quantized.build import quantize, quantize_queries

NONE = np.empty(0, np.int64)
ALL = np.empty(0, np.uint8)
VECTORS = np.array([[1, 0], [0, 1], [0.6, 0.8], [0, 0]], np.float32)


def nothing_found(queries, k):
    return TopK(
        np.full((queries, k), -np.inf), np.full((queries, k), 999), np.zeros(queries, np.int64)
    )


def hits(best, query=0):
    size = best.sizes[query]
    found = zip(best.scores[query, :size].tolist(), best.ranks[query, :size].tolist(), strict=True)
    return sorted(found, key=lambda pair: (-pair[0], pair[1]))


def rows_of(vectors, begin=0, allowed=ALL, ranks=NONE):
    return Rows(vectors, begin, np.array(allowed, np.uint8), ranks)


def queries_of(vectors, scale=1.0):
    return Queries(vectors, np.full(len(vectors), scale), 1e-5)


def asked(vectors, rows=VECTORS, scale=1.0):
    made = quantize(rows, 1)
    return quantize_queries(vectors, 1e-6, 1e-6, made, 1e-5), queries_of(vectors, scale)


def no_terms(queries):
    """The terms of queries that have none."""
    zeros, none = np.zeros(queries, np.int64), np.empty(0)
    lists = Postings(NONE, np.empty(0, np.int32), ALL)
    return QueryTerms(
        lists, none.astype(np.float32), zeros, zeros, NONE, none, none, ALL, np.zeros(queries)
    )


def words_of(held, weights, norms):
    """One query that has all terms; each document holds them once. No term may be left out."""
    documents = np.array([number for one in held for number in one], np.int32)
    lists = Postings(
        offsets_of([len(one) for one in held]), documents, np.zeros(len(documents), np.uint8)
    )
    weights = np.array(weights, float)
    return QueryTerms(
        lists, norms, np.array([0]), np.array([len(held)]), np.arange(len(held)), weights, weights,
        np.zeros(len(held), np.uint8), np.zeros(1),
    )  # fmt: skip
