"""The loops over pairs of words, compiled by numba: windows counted, and the product with PPMI.

How pairs are counted
---------------------
A corpus is one array of word ids with -1 between documents. For each word, `count_windows` walks
over the places where it occurs and adds up its neighbours in one array as long as the vocabulary,
which fits into the cache of a core; the neighbours it met become the word's row. No pair is ever
hashed or sorted on its own, and rows are independent of each other, so threads share them out.
"""

from __future__ import annotations

import numpy as np

from deltavec.core.kernels import Float32s, Float64s, Int32s, Int64s, compiled

BETWEEN_DOCUMENTS = -1


@compiled
def places_of(ids: Int32s, first: int, last: int, begins: Int64s, places: Int64s) -> None:
    """List, word after word, the places of words ``first`` to ``last``.

    ``begins`` says where each word's list begins in ``places``.
    """
    free = begins.copy()
    for place in range(ids.size):
        number = ids[place]
        if first <= number < last:
            places[free[number - first]] = place
            free[number - first] += 1


@compiled
def documents_with(ids: Int32s, words: int) -> Int64s:
    """How many documents hold each word; each document is closed by -1."""
    counts = np.zeros(words, np.int64)
    seen_in = np.full(words, -1, np.int64)
    document = 0
    for place in range(ids.size):
        number = ids[place]
        if number == BETWEEN_DOCUMENTS:
            document += 1
        elif seen_in[number] != document:
            seen_in[number] = document
            counts[number] += 1
    return counts


@compiled
def count_windows(
    ids: Int32s,
    window: int,
    begins: Int64s,
    places: Int64s,
    first: int,
    last: int,
    words: int,
    lengths: Int64s,
    columns: Int32s,
    counts: Int64s,
) -> int:
    """Count the neighbours of the words whose lists are ``first`` to ``last``.

    A neighbour stands at most ``window`` places away in the same document. Writes how many
    distinct ones each word has, their ids in order, and their counts; how many it wrote.
    """
    together = np.zeros(words, np.int64)
    met = np.empty(words, np.int32)
    written = 0
    for index in range(first, last):
        distinct = 0
        for occurrence in range(begins[index], begins[index + 1]):
            place = places[occurrence]
            for step in (-1, 1):
                stop = place + step * (window + 1)
                stop = max(-1, min(ids.size, stop))
                neighbour = place + step
                while neighbour != stop:
                    number = ids[neighbour]
                    if number < 0:
                        break
                    if together[number] == 0:
                        met[distinct] = number
                        distinct += 1
                    together[number] += 1
                    neighbour += step
        in_order = np.sort(met[:distinct])
        for k in range(distinct):
            number = in_order[k]
            columns[written] = number
            counts[written] = together[number]
            together[number] = 0
            written += 1
        lengths[index] = distinct
    return written


@compiled
def ppmi_squares(
    begins: Int64s,
    columns: Int32s,
    log_counts: Float32s,
    row_shifts: Float32s,
    column_shifts: Float32s,
    first_row: int,
    squares: Float64s,
) -> None:
    """Write the squared length of each of these rows of M."""
    for index in range(begins.size - 1):
        row = first_row + index
        total = 0.0
        for entry in range(begins[index], begins[index + 1]):
            value = log_counts[entry] - row_shifts[row] - column_shifts[columns[entry]]
            if value > 0:
                total += value * value
        squares[row] = total


@compiled
def times_ppmi(
    begins: Int64s,
    columns: Int32s,
    log_counts: Float32s,
    row_shifts: Float32s,
    column_shifts: Float32s,
    first_row: int,
    first: int,
    last: int,
    matrix: Float32s,
    product: Float32s,
) -> None:
    """Write rows ``first`` to ``last`` of M times the matrix.

    M_ij = max(0, log_count_ij - row_shift_i - column_shift_j) is computed on the way. Counts are
    symmetric, so the transpose of M is the same loop with the shifts exchanged.
    """
    for index in range(first, last):
        row = first_row + index
        target = product[row]
        target[:] = 0
        for entry in range(begins[index], begins[index + 1]):
            column = columns[entry]
            value = log_counts[entry] - row_shifts[row] - column_shifts[column]
            if value > 0:
                source = matrix[column]
                for k in range(target.size):
                    target[k] += value * source[k]
