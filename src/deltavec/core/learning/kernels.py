"""The loops over pairs of words, compiled by numba: windows counted, and products with PPMI.

How pairs are counted
---------------------
A corpus is one array of word ids with -1 between documents. For each word, `count_windows` walks
over the places where it occurs and adds up its neighbours in one array as long as the vocabulary,
which fits into the cache of a core; the neighbours it met become the word's row. No pair is ever
hashed or sorted on its own, and rows are independent of each other, so threads share them out.
"""

from __future__ import annotations

import numpy as np

from deltavec.core.kernels import Float32s, Int32s, Int64s, UInt64s, compiled, mixed

BETWEEN_DOCUMENTS = -1
CACHED_BYTES = 1 << 20  # of a matrix: what a core keeps near while sparse rows are multiplied by it


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
    second: int,
    lengths: Int64s,
    columns: Int32s,
    counts: Int64s,
    in_first: Int64s,
) -> int:
    """Count the neighbours of the words whose lists are ``first`` to ``last``.

    A neighbour stands at most ``window`` places away in the same document. Writes how many
    distinct ones each word has, their ids in order, and their counts; how many it wrote. If there
    is room for them, also the counts in front of the place ``second``, where a document begins.
    """
    together = np.zeros(words, np.int64)
    met = np.empty(words, np.int32)
    before = np.zeros(words if in_first.size else 0, np.int64)
    written = 0
    for index in range(first, last):
        distinct = 0
        apart = in_first.size > 0
        for occurrence in range(begins[index], begins[index + 1]):
            place = places[occurrence]
            if apart and place >= second:
                for k in range(distinct):
                    before[met[k]] = together[met[k]]
                apart = False
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
            if in_first.size:
                in_first[written] = together[number] if apart else before[number]
                before[number] = 0
            together[number] = 0
            written += 1
        lengths[index] = distinct
    return written


@compiled
def positive_entries(
    begins: Int64s,
    columns: Int32s,
    counts: Int64s,
    row_shifts: Float32s,
    column_shifts: Float32s,
    first_row: int,
    first: int,
    last: int,
    lengths: Int64s,
    kept: Int32s,
    values: Float32s,
) -> int:
    """Write what is above zero of log(count_ij) - row_shift_i - column_shift_j.

    For the rows ``first`` to ``last``: how many entries each has, their columns and values; how
    many it wrote. Counts are symmetric, so the transpose comes from the same loop with the shifts
    exchanged.
    """
    written = 0
    for index in range(first, last):
        shift = row_shifts[first_row + index]
        before = written
        for entry in range(begins[index], begins[index + 1]):
            if counts[entry] == 0:
                continue  # a pair of the other fold alone
            column = columns[entry]
            value = np.float32(np.log(counts[entry])) - shift - column_shifts[column]
            if value > 0:
                kept[written] = column
                values[written] = value
                written += 1
        lengths[index] = written - before
    return written


@compiled
def times_sparse(
    begins: Int64s,
    columns: Int32s,
    values: Float32s,
    first_row: int,
    first: int,
    last: int,
    matrix: Float32s,
    product: Float32s,
) -> None:
    """Write rows ``first`` to ``last`` of a sparse matrix times the matrix.

    Four entries are added at a time: the target is then read and written a quarter as often,
    and the four rows that are fetched from far away are fetched at once. The matrix is gone
    through a few rows at a time, so many as stay in the cache of a core while all targets take
    what they need of them; columns are in order, so each target goes on where it stopped. It adds
    the same fours in the same order however many rows these are.
    """
    product[first_row + first : first_row + last] = 0
    next_entries = begins[first:last].copy()
    at_once = max(1, CACHED_BYTES // max(1, 4 * matrix.shape[1]))
    for edge in range(at_once, matrix.shape[0] + at_once, at_once):
        for index in range(first, last):
            target = product[first_row + index]
            entry, end = next_entries[index - first], begins[index + 1]
            while entry + 4 <= end and columns[entry] < edge:
                a, b = matrix[columns[entry]], matrix[columns[entry + 1]]
                c, d = matrix[columns[entry + 2]], matrix[columns[entry + 3]]
                of_a, of_b = values[entry], values[entry + 1]
                of_c, of_d = values[entry + 2], values[entry + 3]
                for k in range(target.size):
                    target[k] += of_a * a[k] + of_b * b[k] + of_c * c[k] + of_d * d[k]
                entry += 4
            while entry + 4 > end > entry and columns[entry] < edge:
                a, of_a = matrix[columns[entry]], values[entry]
                for k in range(target.size):
                    target[k] += of_a * a[k]
                entry += 1
            next_entries[index - first] = entry


@compiled
def hash_documents(ids: Int32s, ends: Int64s, hashes: UInt64s) -> None:
    """Write a number for each document that follows from its words alone, as random as a coin.

    A document ends where ``ends`` says.
    """
    begin = 0
    for document in range(ends.size):
        number = np.uint64(0)
        for place in range(begin, ends[document]):
            number = mixed(number ^ np.uint64(ids[place] + 1))
        hashes[document] = number
        begin = ends[document] + 1


@compiled
def mean_halves(
    ids: Int32s, begins: Int64s, ends: Int64s, rows: Float32s, first: Float32s, second: Float32s
) -> None:
    """Write the mean row of the words in the first half of each document, and of the rest."""
    for document in range(begins.size):
        begin, end = begins[document], ends[document]
        middle = begin + (end - begin) // 2
        add_mean(ids, begin, middle, rows, first[document])
        add_mean(ids, middle, end, rows, second[document])


@compiled
def add_mean(ids: Int32s, begin: int, end: int, rows: Float32s, mean: Float32s) -> None:
    """Add the mean row of some successive words to what is zero."""
    for place in range(begin, end):
        row = rows[ids[place]]
        for k in range(mean.size):
            mean[k] += row[k]
    for k in range(mean.size):
        mean[k] /= np.float32(end - begin)
