"""Embedding loops: token counts and table rows in, unit vectors out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int32s, Int64s
from deltavec.core.jit import compiled
from deltavec.core.kernels.count import IDS_AT_ONCE
from deltavec.core.kernels.hashing import VocabTable
from deltavec.core.kernels.tokenize import scan_documents, token_buffers
from deltavec.core.text.rules import TextBatch

WORDS_BETWEEN_FLUSHES = 256
ROWS_AT_ONCE = 8
NOTHING = np.float32(0)  # added, lest a sum be the -0 that numpy never gives
FEW_ROWS = 4
PAIR = 2
SUMS = 8  # of squares, side by side
TERMS_AT_ONCE = 1 << 20
DOCUMENTS_AT_ONCE = 1 << 16
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


class EmbedBuffers(NamedTuple):
    """What embedding writes and forgets; the occurrences are 0 before and after."""

    occurrences: Int32s
    term_ids: Int32s
    shares: Float32s
    amounts: Float64s
    ends: Int64s

    @classmethod
    def of(cls, words: int) -> EmbedBuffers:
        """Room for the documents of a vocabulary of so many words."""
        # For what is found at once, for the rest of a document, whatever it holds, and for the word
        # written in vain.
        terms = TERMS_AT_ONCE + IDS_AT_ONCE + words + 1
        return cls(
            np.zeros(words, np.int32),
            np.empty(terms, np.int32),
            np.empty(terms, np.float32),
            np.empty(DOCUMENTS_AT_ONCE, np.float64),
            np.zeros(DOCUMENTS_AT_ONCE + 1, np.int64),
        )


@compiled
def embed(
    texts: TextBatch,
    first: int,
    last: int,
    words: VocabTable,
    terms: TableView,
    scratch: EmbedBuffers,
    vectors: Float32s,
) -> tuple[int, int, int]:
    """Write the unit vectors of documents ``first`` to ``last`` into ``vectors``.

    How many words the documents hold, how many of them are known, and how many documents hold no
    known word.

    The words of many documents are found before the rows of any are added: taking turns after
    every document, the table of slots and the rows would push each other out of the cache.
    """
    ids = np.empty(IDS_AT_ONCE, np.int32)
    closed = np.empty(IDS_AT_ONCE, np.int64)
    spelling = token_buffers(words.longest)
    occurrences, term_ids, shares, amounts, ends = scratch
    penalties = terms.penalties
    tokens = 0
    known_tokens = 0
    unknown = 0
    document, position = first, texts.ends[first]
    while first < last:
        count = 0
        distinct = 0
        known_here = 0  # of a document that was not read to its end yet
        while document < last and (
            known_here > 0 or (count < DOCUMENTS_AT_ONCE and distinct < TERMS_AT_ONCE)
        ):
            begun = document
            most = min(last, first + DOCUMENTS_AT_ONCE, begun + closed.size)
            # At last only what was begun is read to its end.
            most = most if distinct < TERMS_AT_ONCE else begun + 1
            document, position, known, passed, _, _ = scan_documents(
                texts, begun, position, most, words, spelling, ids, closed, False
            )
            tokens += passed
            known_tokens += known
            place = 0
            for nth in range(document - begun + 1):
                end = closed[nth] if begun + nth < document else known
                known_here += end - place
                while place < end:
                    number = np.uint64(ids[place])
                    # Written in any case: whether a word is new is hard to foresee.
                    term_ids[distinct] = number
                    distinct += occurrences[number] == 0
                    occurrences[number] += 1
                    place += 1
                if begun + nth < document:
                    unknown += known_here == 0
                    amounts[count] = write_shares(
                        ends[count], distinct, term_ids, occurrences, known_here, penalties, shares
                    )
                    count += 1
                    ends[count] = distinct
                    known_here = 0
        sum_rows(ends, count, term_ids, shares, amounts, terms, vectors, first)
        first += count
    return tokens, int(known_tokens), int(unknown)


@compiled
def embed_counts(occurrences: Int64s, known: int, terms: TableView, vectors: Float32s) -> None:
    """Write the unit vector of a document that holds each word so often; the counts are spent."""
    term_ids = np.flatnonzero(occurrences).astype(np.int32)
    shares = np.empty(term_ids.size, np.float32)
    amounts = np.empty(1)
    amounts[0] = write_shares(
        0, term_ids.size, term_ids, occurrences, known, terms.penalties, shares
    )
    ends = np.array([0, term_ids.size])
    sum_rows(ends, 1, term_ids, shares, amounts, terms, vectors, 0)


@compiled
def write_shares(
    begin: int,
    end: int,
    term_ids: Int32s,
    occurrences: Int32s | Int64s,
    known: int,
    penalties: Float64s,
    shares: Float32s,
) -> float:
    """Write n_i / N - penalty_i, set the counts back to 0; the sum of their amounts."""
    amount = 0.0
    for place in range(np.uint64(begin), np.uint64(end)):
        number = np.uint64(term_ids[place])
        share = occurrences[number] / known
        if penalties.size > 0:
            share -= penalties[number]
        occurrences[number] = 0
        amount += abs(share)
        shares[place] = share
    return amount


@compiled
def magnitude(first: int, last: int, ids: Int32s, shares: Float32s, norms: Float32s) -> float:
    """The sum of the lengths of what is summed, over the places from ``first`` to ``last``."""
    lengths = 0.0
    for place in range(np.uint64(first), np.uint64(last)):
        lengths += abs(np.float64(shares[place])) * norms[np.uint64(ids[place])]
    return lengths


@compiled
def sum_rows(
    ends: Int64s,
    count: int,
    ids: Int32s,
    shares: Float32s,
    amounts: Float64s,
    terms: TableView,
    vectors: Float32s,
    row: int,
) -> None:
    """Write the unit vectors of so many documents, from this row on: the sums of share_i row_i.

    A sum whose length is but rounding becomes zeros. What would be rounding is added up only if
    the sum is short beside the longest row: lengths of rows lie far apart in memory.

    Rows are added in float32, which the processor does many numbers at a time, and carried over
    to float64 after every few hundred words, so that rounding does not grow with the document.
    Eight rows are added in one go: the sum is then read and written once for all of them, and the
    processor fetches the next rows while it waits for the first. Products and sums are rounded
    each by itself, so that every processor gives the same bits, and numpy too
    (`deltavec.core.fallback`); rows are fetched no faster than that.
    """
    rows = terms.rows
    offset = terms.offset
    dimensions = np.uint64(rows.shape[1])
    partial = np.empty(rows.shape[1], np.float32)
    total = np.empty(rows.shape[1], np.float64)
    for document in range(count):
        first, last = ends[document], ends[document + 1]
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
        short = length <= 2 * ROUNDING * (amounts[document] * terms.longest + terms.offset_norm)
        if short and length <= ROUNDING * (
            magnitude(first, last, ids, shares, terms.norms) + terms.offset_norm
        ):
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
