"""The two halves of embedding by themselves: finding words, and adding rows whose ids are known.

Compiled anew in every run: numba's cache looks only at the file a kernel stands in, and would
miss a change in `deltavec.core.kernels`, which `scan_only` measures.
"""

from __future__ import annotations

import numba
import numpy as np

from deltavec.core.jit import LazyKernel
from deltavec.core.kernels import tokenize as token_kernels
from deltavec.core.kernels.count import IDS_AT_ONCE

compiled = numba.njit(nogil=True)


def ready(kernel):
    """A kernel of deltavec, which is not compiled before it is wanted."""
    return kernel.compiled() if isinstance(kernel, LazyKernel) else kernel


scan_documents, spelling_for = (
    ready(token_kernels.scan_documents),
    ready(token_kernels.spelling_for),
)
ROWS_AT_ONCE = 8


@compiled
def copy(data, first, last, target):
    """Copy some bytes: as fast as text can be touched at all."""
    target[first:last] = data[first:last]


@compiled
def scan_only(texts, first, last, words):
    """Look up every word of documents ``first`` to ``last``; how many are known."""
    ids = np.empty(IDS_AT_ONCE, np.int32)
    closed = np.empty(IDS_AT_ONCE, np.int64)
    spelling = spelling_for(words.longest)
    total = 0
    position = texts.ends[first]
    while first < last:
        most = min(last, first + closed.size)
        first, position, known, _, _, _ = scan_documents(
            texts, first, position, most, words, spelling, ids, closed, False
        )
        total += known
    return total


@compiled
def list_terms(texts, words, penalties, begins, ids, shares):
    """List each document's distinct ids in the order they occur, and n_i / N - penalty_i."""
    found = np.empty(IDS_AT_ONCE, np.int32)
    closed = np.empty(1, np.int64)
    spelling = spelling_for(words.longest)
    occurrences = np.zeros(penalties.size, np.int32)
    begins[0] = 0
    for document in range(texts.ends.size - 1):
        reached, position = document, texts.ends[document]
        first = written = begins[document]
        total = 0
        while reached == document:
            reached, position, known, _, _, _ = scan_documents(
                texts, document, position, document + 1, words, spelling, found, closed, False
            )
            total += known
            for place in range(known):
                number = found[place]
                if occurrences[number] == 0:
                    ids[written] = number
                    written += 1
                occurrences[number] += 1
        for place in range(first, written):
            number = ids[place]
            shares[place] = occurrences[number] / total - penalties[number]
            occurrences[number] = 0
        begins[document + 1] = written


@numba.njit(nogil=True, fastmath={"contract"})
def gather_add(begins, ids, shares, rows, first, last, vectors):
    """Write the weighted sum of each document's rows: no look-ups, no counts, no unit length.

    Eight rows at a time, so that the sum is read and written once for eight of them. One at a time
    was slower in every trial; four and eight could not be told apart.
    """
    dimensions = rows.shape[1]
    for document in range(first, last):
        vector = vectors[document]
        vector[:] = 0
        place, end = begins[document], begins[document + 1]
        while place + ROWS_AT_ONCE <= end:
            a, b = np.uint64(ids[place]), np.uint64(ids[place + 1])
            c, d = np.uint64(ids[place + 2]), np.uint64(ids[place + 3])
            e, f = np.uint64(ids[place + 4]), np.uint64(ids[place + 5])
            g, h = np.uint64(ids[place + 6]), np.uint64(ids[place + 7])
            p, q, r, s = shares[place], shares[place + 1], shares[place + 2], shares[place + 3]
            t, u, v, w = shares[place + 4], shares[place + 5], shares[place + 6], shares[place + 7]
            for k in range(dimensions):
                vector[k] += (
                    p * rows[a, k] + q * rows[b, k] + r * rows[c, k] + s * rows[d, k]
                    + t * rows[e, k] + u * rows[f, k] + v * rows[g, k] + w * rows[h, k]
                )  # fmt: skip
            place += ROWS_AT_ONCE
        while place < end:
            a, p = np.uint64(ids[place]), shares[place]
            for k in range(dimensions):
                vector[k] += p * rows[a, k]
            place += 1


@compiled
def arithmetic(rounds):
    """Arithmetic alone, in registers: what more threads are worth if they share nothing."""
    a, b = np.uint64(88172645463325252), np.uint64(1181783497276652981)
    for _ in range(rounds):
        a ^= a << np.uint64(13)
        b ^= b << np.uint64(13)
        a ^= a >> np.uint64(7)
        b ^= b >> np.uint64(7)
        a ^= a << np.uint64(17)
        b ^= b << np.uint64(17)
    return a ^ b
