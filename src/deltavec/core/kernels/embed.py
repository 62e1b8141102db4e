"""Embedding loops: token counts and table rows in, unit vectors out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s
from deltavec.core.jit import compiled
from deltavec.core.kernels.count import DocumentTerms

WORDS_BETWEEN_FLUSHES = 256
ROWS_AT_ONCE = 8
NOTHING = np.float32(0)  # added, lest a sum be the -0 that numpy never gives
FEW_ROWS = 4
PAIR = 2
SUMS = 8  # of squares, side by side
# Below this share of what was summed, the length of a sum is rounding: see docs/decisions/0004.
ROUNDING = 1e-5


class TableView(NamedTuple):
    """What makes a document's sum: `deltavec.core.forms.EmbeddingTable` as the kernels read it.

    Without any penalty there are none to read.
    """

    rows: Float32s
    penalties: Float64s
    norms: Float32s
    longest: float  # of the norms
    offset: Float64s
    offset_norm: float


@compiled
def sum_rows(
    documents: DocumentTerms, table: TableView, shares: Float32s, vectors: Float32s, row: int
) -> None:
    """Write the unit vectors of documents, from this row on: the sums of share_i row_i.

    The share of a term is n_i / N - penalty_i; ``shares`` has room for all of them. A sum whose
    length is but rounding becomes zeros. What would be rounding is added up only if the sum is
    short beside the longest row: lengths of rows lie far apart in memory.

    Rows are added in float32, which the CPU does many numbers at a time, and carried over
    to float64 after every few hundred words, so that rounding does not grow with the document.
    Eight rows are added in one go: the sum is then read and written once for all of them, and the
    processor fetches the next rows while it waits for the first. Products and sums are rounded
    each by itself, so that every processor gives the same bits, and numpy too
    (`deltavec.core.batching`); rows are fetched no faster than that.
    """
    ids, counts, ends, lengths = documents
    rows, penalties, norms, offset = table.rows, table.penalties, table.norms, table.offset
    dimensions = np.uint64(rows.shape[1])
    partial = np.empty(rows.shape[1], np.float32)
    total = np.empty(rows.shape[1], np.float64)
    for document in range(lengths.size):
        first, last = ends[document], ends[document + 1]
        amount = 0.0
        for place in range(np.uint64(first), np.uint64(last)):
            share = counts[place] / lengths[document]
            if penalties.size > 0:
                share -= penalties[np.uint64(ids[place])]
            amount += abs(share)
            shares[place] = share
        if first == last:
            for k in range(dimensions):
                vectors[row + document, k] = 0
            continue
        for begin in range(first, last, WORDS_BETWEEN_FLUSHES):
            end = min(begin + WORDS_BETWEEN_FLUSHES, last)
            place = begin
            if place + ROWS_AT_ONCE > end:
                for k in range(dimensions):
                    partial[k] = 0
            while place + ROWS_AT_ONCE <= end:
                a, b = np.uint64(ids[place]), np.uint64(ids[place + 1])
                c, d = np.uint64(ids[place + 2]), np.uint64(ids[place + 3])
                e, f = np.uint64(ids[place + 4]), np.uint64(ids[place + 5])
                g, h = np.uint64(ids[place + 6]), np.uint64(ids[place + 7])
                p, q, r, s = shares[place], shares[place + 1], shares[place + 2], shares[place + 3]
                t, u = shares[place + 4], shares[place + 5]
                v, w = shares[place + 6], shares[place + 7]
                if place == begin:
                    for k in range(dimensions):
                        partial[k] = NOTHING + (
                            p * rows[a, k] + q * rows[b, k] + r * rows[c, k] + s * rows[d, k]
                            + t * rows[e, k] + u * rows[f, k] + v * rows[g, k] + w * rows[h, k]
                        )  # fmt: skip
                else:
                    for k in range(dimensions):
                        partial[k] += (
                            p * rows[a, k] + q * rows[b, k] + r * rows[c, k] + s * rows[d, k]
                            + t * rows[e, k] + u * rows[f, k] + v * rows[g, k] + w * rows[h, k]
                        )  # fmt: skip
                place += ROWS_AT_ONCE
            if place + FEW_ROWS <= end:  # one after the other, as below, in one go
                a, b = np.uint64(ids[place]), np.uint64(ids[place + 1])
                c, d = np.uint64(ids[place + 2]), np.uint64(ids[place + 3])
                p, q, r, s = shares[place], shares[place + 1], shares[place + 2], shares[place + 3]
                for k in range(dimensions):
                    partial[k] = (
                        ((partial[k] + p * rows[a, k]) + q * rows[b, k]) + r * rows[c, k]
                    ) + s * rows[d, k]
                place += FEW_ROWS
            if place + PAIR <= end:
                a, b = np.uint64(ids[place]), np.uint64(ids[place + 1])
                p, q = shares[place], shares[place + 1]
                for k in range(dimensions):
                    partial[k] = (partial[k] + p * rows[a, k]) + q * rows[b, k]
                place += PAIR
            if place < end:
                a, p = np.uint64(ids[place]), shares[place]
                for k in range(dimensions):
                    partial[k] += p * rows[a, k]
            if end == last:
                break
            if begin == first:
                for k in range(dimensions):
                    total[k] = partial[k]
            else:
                for k in range(dimensions):
                    total[k] += partial[k]
        if last - first > WORDS_BETWEEN_FLUSHES:
            for k in range(dimensions):
                total[k] = (total[k] + partial[k]) - offset[k]
        else:  # of a short document the sum stands in no other place
            for k in range(dimensions):
                total[k] = partial[k] - offset[k]
        length = norm(total)
        # Twice, as it is rounded too.
        if length <= 2 * ROUNDING * (amount * table.longest + table.offset_norm):
            magnitude = 0.0
            for place in range(np.uint64(first), np.uint64(last)):
                magnitude += abs(np.float64(shares[place])) * norms[np.uint64(ids[place])]
            if length <= ROUNDING * (magnitude + table.offset_norm):
                for k in range(dimensions):
                    vectors[row + document, k] = 0
                continue
        scale = 1 / length  # numbers are divided in ten times the time
        for k in range(dimensions):
            vectors[row + document, k] = total[k] * scale


@compiled
def norm(total: Float64s) -> float:
    """The length of a sum.

    Squares are added in eight sums, of every eighth number each: in one sum, each number would wait
    for the one before, and a short document for nothing else.
    """
    dimensions = total.size
    whole = dimensions - dimensions % SUMS
    a = b = c = d = e = f = g = h = 0.0
    for k in range(0, whole, SUMS):
        a += total[k] * total[k]
        b += total[k + 1] * total[k + 1]
        c += total[k + 2] * total[k + 2]
        d += total[k + 3] * total[k + 3]
        e += total[k + 4] * total[k + 4]
        f += total[k + 5] * total[k + 5]
        g += total[k + 6] * total[k + 6]
        h += total[k + 7] * total[k + 7]
    square = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for k in range(whole, dimensions):
        square += total[k] * total[k]
    return float(np.sqrt(square))
