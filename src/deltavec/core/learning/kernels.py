"""The loops over pairs of words, compiled by numba: windows counted, and products with PPMI.

How pairs are counted
---------------------
A corpus is one array of word ids with -1 between documents. For each word, `count_windows` walks
over the places where it occurs and adds up its neighbors in one array as long as the vocabulary,
which fits into the cache of a core; the neighbors it met become the word's row. No pair is ever
hashed or sorted on its own, and rows are independent of each other, so threads share them out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, Float64s, Int32s, Int64s, UInt64s, blocks, signed
from deltavec.core.jit import compiled
from deltavec.core.kernels.hashing import mix

Bools = npt.NDArray[np.bool_]


class SparseRows(NamedTuple):
    """What is not zero in some successive rows of a matrix."""

    first: int  # the number of the first row
    begins: Int64s
    columns: Int32s
    values: npt.NDArray[Any]


BETWEEN_DOCUMENTS = -1
IDS_AT_ONCE = 1 << 24
CACHED_BYTES = 1 << 19  # of a matrix: what a core keeps near while sparse rows are multiplied by it


def document_ends(ids: Int32s) -> Int64s:
    """The positions where documents are closed."""
    parts = [some.start + np.flatnonzero(ids[some] < 0) for some in blocks(len(ids), IDS_AT_ONCE)]
    return np.concatenate([np.zeros(0, np.int64), *parts])


@compiled
def positions_of(
    ids: Int32s, begin: int, end: int, first: int, last: int, free: Int64s, places: Int64s
) -> None:
    """List, word after word, the places of words ``first`` to ``last`` in a part of the ids.

    ``free`` says where each word's list goes on in ``places``, and moves on.
    """
    for place in range(begin, end):
        number = ids[place]
        if first <= number < last:
            places[free[number - first]] = place
            free[number - first] += 1


@compiled
def count_ids(ids: Int32s, counts: Int64s) -> None:
    """Count how often each word occurs."""
    for place in range(ids.size):
        if ids[place] != BETWEEN_DOCUMENTS:
            counts[ids[place]] += 1


@compiled
def copy_documents(ids: Int32s, ends: Int64s, wanted: Bools, copied: Int32s) -> None:
    """Write the wanted documents one behind the other."""
    begin = written = 0
    for document in range(ends.size):
        after = ends[document] + 1
        if wanted[document]:
            for place in range(begin, after):
                copied[written] = ids[place]
                written += 1
        begin = after


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
    """Count the neighbors of the words whose lists are ``first`` to ``last``.

    A neighbor stands at most ``window`` places away in the same document. Writes how many
    distinct ones each word has, their ids in order, and their counts; how many it wrote. If there
    is room for them, also the counts in front of the place ``second``, where a document begins.

    Which neighbors a word has is noted when they are first met. A word that has met more places
    than there are words has most of them: all are then looked through, and nothing is noted.
    """
    apart = in_first.size > 0
    together = np.zeros(words, counts.dtype)
    before = np.zeros(words if apart else 0, counts.dtype)
    met = np.empty(words, np.int32)
    every = np.arange(words, dtype=np.int32)
    written = 0
    for index in range(first, last):
        begin, end = begins[index], begins[index + 1]
        middle = end
        if apart:
            middle = begin + np.searchsorted(places[begin:end], second)
        note = 2 * window * (end - begin) < 2 * words
        distinct = add_neighbors(ids, window, places, begin, middle, together, met, signed(0), note)
        if apart:
            if note:
                for k in range(distinct):
                    before[met[k]] = together[met[k]]
            else:
                for number in every:
                    before[number] = together[number]
        distinct = add_neighbors(ids, window, places, middle, end, together, met, distinct, note)
        written_before = written
        met[:distinct].sort()
        for number in met[:distinct] if note else every:
            if together[number] > 0:
                columns[written] = number
                counts[written] = together[number]
                if apart:
                    in_first[written] = before[number]
                    before[number] = 0
                together[number] = 0
                written += 1
        lengths[index] = written - written_before
    return written


@compiled
def add_neighbors(
    ids: Int32s,
    window: int,
    places: Int64s,
    first: int,
    last: int,
    together: Int64s,
    met: Int32s,
    distinct: int,
    note: bool,
) -> int:
    """Count the neighbors of some places; how many words there are now that were met and noted."""
    for occurrence in range(first, last):
        place = places[occurrence]
        for step in (-1, 1):
            stop = max(-1, min(ids.size, place + step * (window + 1)))
            neighbor = place + step
            if note:
                while neighbor != stop and ids[neighbor] >= 0:
                    number = ids[neighbor]
                    if together[number] == 0:
                        met[distinct] = number
                        distinct += 1
                    together[number] += 1
                    neighbor += step
            else:
                while neighbor != stop and ids[neighbor] >= 0:
                    together[ids[neighbor]] += 1
                    neighbor += step
    return distinct


@compiled
def ppmi_inplace(
    rows: SparseRows,
    without: Int64s,
    row_shifts: Float32s,
    column_shifts: Float32s,
    logs: Float32s,
    first: int,
    last: int,
    lengths: Int64s,
    kept_columns: Int32s,
    kept: Float32s,
) -> int:
    """Write log(count_ij) - row_shift_i - column_shift_j of rows ``first`` to ``last``.

    Those are kept which are above zero, or whose counterpart in the transposed matrix is: counts
    are symmetric, so that one has the shifts exchanged. The counts ``without`` are taken off first,
    if there are any; the logarithms of small counts are listed. Gives how many were kept.
    """
    first_row, begins, columns, counts = rows
    written = 0
    for index in range(first, last):
        written_before = written
        row_shift, from_other = row_shifts[first_row + index], column_shifts[first_row + index]
        for entry in range(begins[index], begins[index + 1]):
            column = columns[entry]
            count = counts[entry] - (without[entry] if without.size else 0)
            if count == 0:
                continue  # a pair of the other fold alone
            log = logs[count] if count < logs.size else np.float32(np.log(count))
            value = log - row_shift - column_shifts[column]
            # Written in any case, and written over if it is not kept: no branch to guess.
            kept_columns[written] = column
            kept[written] = value
            written += max(value, log - from_other - row_shifts[column]) > 0
        lengths[index] = written - written_before
    return written


@compiled
def square_sums(rows: SparseRows, first: int, last: int, sums: Float64s) -> None:
    """Write the sum of squares of what is above zero in each row."""
    for index in range(first, last):
        total = 0.0
        for entry in range(rows.begins[index], rows.begins[index + 1]):
            total += max(0.0, rows.values[entry]) ** 2
        sums[rows.first + index] = total


@compiled
def times_positive(
    rows: SparseRows,
    shifts: Float32s,
    own: float,
    scales: Float32s,
    first: int,
    last: int,
    matrix: Float32s,
    product: Float32s,
) -> None:
    """Write rows ``first`` to ``last`` of a product: scale_i ((M + own I) times the matrix).

    The entries of M are those above zero of value_ij + shift_i - shift_j.

    Four entries are added at a time: the target is then read and written a quarter as often,
    and the four rows that are fetched from far away are fetched at once. The matrix is gone
    through a few rows at a time, so many as stay in the cache of a core while all targets take
    what they need of them; columns are in order, so each target goes on where it stopped. It adds
    the same fours in the same order however many rows these are.
    """
    first_row, begins, columns, values = rows
    share = np.float32(own)
    for index in range(first_row + first, first_row + last):
        target, row = product[index], matrix[index]
        for k in range(target.size):
            target[k] = share * row[k]
    next_entries = begins[first:last].copy()
    at_once = max(1, CACHED_BYTES // max(1, 4 * matrix.shape[1]))
    none = np.float32(0)
    for edge in range(at_once, matrix.shape[0] + at_once, at_once):
        for index in range(first, last):
            target = product[first_row + index]
            shift = shifts[first_row + index]
            entry, end = next_entries[index - first], begins[index + 1]
            while entry + 4 <= end and columns[entry] < edge:
                i, j, k, m = (
                    columns[entry], columns[entry + 1], columns[entry + 2], columns[entry + 3]
                )  # fmt: skip
                of_a = max(none, values[entry] + shift - shifts[i])
                of_b = max(none, values[entry + 1] + shift - shifts[j])
                of_c = max(none, values[entry + 2] + shift - shifts[k])
                of_d = max(none, values[entry + 3] + shift - shifts[m])
                a, b, c, d = matrix[i], matrix[j], matrix[k], matrix[m]
                for place in range(target.size):
                    target[place] += (
                        of_a * a[place] + of_b * b[place] + of_c * c[place] + of_d * d[place]
                    )
                entry += 4
            while entry < end and columns[entry] < edge:  # the last of a row, if any
                row = matrix[columns[entry]]
                value = max(none, values[entry] + shift - shifts[columns[entry]])
                for place in range(target.size):
                    target[place] += value * row[place]
                entry += 1
            next_entries[index - first] = entry
    for index in range(first_row + first, first_row + last):
        target, scale = product[index], scales[index]
        for k in range(target.size):
            target[k] *= scale


@compiled
def hash_documents(ids: Int32s, ends: Int64s, hashes: UInt64s) -> None:
    """Write a number for each document that follows from its words alone, as random as a coin.

    A document ends where ``ends`` says.
    """
    begin = 0
    for document in range(ends.size):
        number = np.uint64(0)
        for place in range(begin, ends[document]):
            number = mix(number ^ np.uint64(ids[place] + 1))
        hashes[document] = number
        begin = ends[document] + 1


@compiled
def half_means(
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
