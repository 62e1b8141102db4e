"""A few documents embedded without the compiler: the same bits as the kernels give, slowly.

Words are found by the rule's slow reference and a dictionary. Every number is rounded as in
`deltavec.core.kernels`: products and sums of float32 in the same order, the square of the length in
the same eight sums.
"""

from __future__ import annotations

import numpy as np

from deltavec.core.arrays import Float32s, Float64s, Int64s
from deltavec.core.forms import EmbeddingTable
from deltavec.core.jit import COST_PER_BYTE
from deltavec.core.kernels.embed import ROUNDING, ROWS_AT_ONCE, SUMS, WORDS_BETWEEN_FLUSHES
from deltavec.core.statistics import TextCounts
from deltavec.core.text.batches import encode
from deltavec.core.text.rules import TOKEN_SEPARATOR, TextBatch, Units
from deltavec.core.text.tokenize import tokenize_by
from deltavec.core.vocabulary import Vocabulary


def work_for(texts: TextBatch, dimensions: int) -> int:
    """How much work documents are, in numbers to multiply."""
    size = int(texts.ends[-1] - texts.ends[0])
    return size * COST_PER_BYTE + texts.documents * dimensions


def embed_small_batch(
    texts: TextBatch, vocabulary: Vocabulary, folded: EmbeddingTable, vectors: Float32s
) -> TextCounts:
    """Write the vectors of documents; their words, counted."""
    counts = TextCounts()
    for number in range(texts.documents):
        units = token_bytes(texts, number)
        ids = [vocabulary.numbers[unit] for unit in units if unit in vocabulary.numbers]
        vectors[number] = embed_ids(ids, folded)
        counts += TextCounts(1, len(units), len(ids), int(not ids))
    return counts


def token_bytes(texts: TextBatch, number: int) -> list[bytes]:
    """What is counted of a document, in its order."""
    data = texts.data[texts.ends[number] : texts.ends[number + 1]].tobytes()
    rule = texts.rule
    if not rule.decodes:
        apart = data.replace(b"\0", TOKEN_SEPARATOR).split(TOKEN_SEPARATOR)
        return [word for word in apart if word]
    units = Units(rule.whole, rule.gram)
    return encode(tokenize_by(data.decode("utf-8", "replace"), rule, units).units)


def embed_ids(ids: list[int], folded: EmbeddingTable) -> Float64s:
    """The vector of a document that holds these words; zeros if it has no direction."""
    counts: dict[int, int] = {}
    for number in ids:
        counts[number] = counts.get(number, 0) + 1
    terms = np.array(list(counts), np.int64)
    if not ids:
        return np.zeros(folded.rows.shape[1])
    shares = np.array(list(counts.values())) / len(ids) - folded.penalties[terms]
    rounded = shares.astype(np.float32)
    lengths = np.abs(rounded).astype(np.float64) * folded.norms[terms]
    magnitude = float(np.add.accumulate(lengths)[-1])
    total = weighted_sum(terms, rounded, folded.rows) - folded.offset
    length = np.sqrt(square_of(total))
    if length <= ROUNDING * (magnitude + folded.offset_norm):
        return np.zeros(len(total))
    unit: Float64s = total * (1 / length)
    return unit


def weighted_sum(terms: Int64s, shares: Float32s, rows: Float32s) -> Float64s:
    """The sum of share_i row_i, as `deltavec.core.kernels.sum_up` takes it."""
    total = np.zeros(rows.shape[1])
    for begin in range(0, len(terms), WORDS_BETWEEN_FLUSHES):
        block = slice(begin, begin + WORDS_BETWEEN_FLUSHES)
        products = shares[block, None] * rows[terms[block]]
        together = len(products) - len(products) % ROWS_AT_ONCE
        partial = np.zeros(rows.shape[1], np.float32)
        for first in range(0, together, ROWS_AT_ONCE):
            partial += np.add.accumulate(products[first : first + ROWS_AT_ONCE])[-1]
        for product in products[together:]:
            partial += product
        total += partial
    return total


def square_of(total: Float64s) -> np.float64:
    """The square of the length, as `deltavec.core.kernels.length_of` takes it."""
    squares = total * total
    whole = len(squares) - len(squares) % SUMS
    side_by_side = np.zeros(SUMS)
    for first in range(0, whole, SUMS):
        side_by_side += squares[first : first + SUMS]
    a, b, c, d, e, f, g, h = side_by_side
    square = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for one in squares[whole:]:
        square += one
    return np.float64(square)
