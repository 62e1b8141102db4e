"""Co-occurrence counts, computed in Spark.

Each task counts the pairs of its own text with the kernels, a few million words at a time, and
hands on one row for each pair of words that it met. Spark adds up equal pairs, on disk where memory
runs out. Words are numbered in blocks whose rows cannot grow beyond a bound; a block is packed
by one task, and the driver reads one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arrays import Allocate, Int32s, offsets_of
from deltavec.core.learning.cooccurrence import Cooccurrence, count_blocks, ids_of
from deltavec.core.learning.kernels import SparseRows
from deltavec.core.learning.split_half import Folds, folds_of
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.text.batches import Tokenizer, as_text_batch
from deltavec.core.vocabulary import Vocabulary
from deltavec.spark.ship import bytes_type, failing_clearly

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

IDS_AT_ONCE = 1 << 23  # 32 MB: what pairs are counted in before they are handed on
COUNTING_MEMORY = 256 << 20
PAIRS_IN_A_BLOCK = 1 << 20
PAIRS_IN_A_BATCH = 1 << 18
PAIR = "block int, word int, neighbor int, count long"
PACKED = "block int, lengths binary, neighbors binary, counts binary"


def cooccurrence(
    texts: DataFrame,
    tokenizer: Tokenizer,
    arrived: Callable[[], Vocabulary],
    statistics: CorpusStatistics,
    window: int,
    allocate: Allocate,
) -> Cooccurrence:
    """The counts of every two words at most ``window`` positions apart in a document.

    Parameters
    ----------
    texts
        A frame with one column of strings.
    arrived
        Opens the vocabulary on an executor.
    statistics
        Its words' counts in the column: they bound how many neighbors a word can have.
    allocate
        Where the driver keeps the counts.
    """
    from pyspark.sql import functions

    borders = block_borders(statistics.token_counts, window)
    stored = bytes_type(texts)

    def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        vocabulary = arrived()
        for ids in gathered_ids(batches, tokenizer, vocabulary):
            words = len(vocabulary)
            for rows, _ in count_blocks(
                ids, None, words, window, np.empty, 1, COUNTING_MEMORY, np.int64
            ):
                yield from pair_rows(rows, borders)

    def packed(group: pa.Table) -> pa.Table:
        return packed_block(group, borders, stored)

    pairs = texts.mapInArrow(counted, PAIR).repartition("block")
    total = functions.sum("count").alias("count")
    blocks = pairs.groupBy("block", "word", "neighbor").agg(total)
    rows = blocks.groupBy("block").applyInArrow(packed, PACKED)
    with failing_clearly():
        return unpacked(rows.toLocalIterator(), borders, allocate)


def sampled_folds(
    texts: DataFrame, tokenizer: Tokenizer, arrived: Callable[[], Vocabulary], share: float
) -> Folds:
    """Two folds of the documents, or of a share of them, as ids on the driver.

    They hold the documents that `split_half.folds_of` puts there on one machine.
    """
    stored = bytes_type(texts)

    def tokenize(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for ids in gathered_ids(batches, tokenizer, arrived()):
            folds = [fold.tobytes() for fold in folds_of(ids, share).both]
            yield pa.RecordBatch.from_arrays(
                [pa.array([0, 1], pa.int32()), pa.array(folds, stored)], ["fold", "ids"]
            )

    found: tuple[list[Int32s], list[Int32s]] = ([], [])
    with failing_clearly():
        for row in texts.mapInArrow(tokenize, "fold int, ids binary").toLocalIterator():
            found[row.fold].append(np.frombuffer(row.ids, np.int32))
    return Folds.of(*(np.concatenate([np.zeros(0, np.int32), *parts]) for parts in found))


def block_borders(occurrences: npt.NDArray[np.int64], window: int) -> npt.NDArray[np.int64]:
    """The first word of each block, and the number of words; a block bounds its pairs."""
    at_most = np.minimum(2 * window * occurrences, len(occurrences))
    before = np.cumsum(at_most) - at_most
    starts = np.unique(before // PAIRS_IN_A_BLOCK, return_index=True)[1]
    return np.append(starts, len(occurrences))


def gathered_ids(
    batches: Iterable[pa.RecordBatch], tokenizer: Tokenizer, vocabulary: Vocabulary
) -> Iterator[npt.NDArray[np.int32]]:
    """The documents as ids, each ended by -1, in batches of about `IDS_AT_ONCE`."""
    held: list[npt.NDArray[np.int32]] = []
    for batch in batches:
        held += ids_of(as_text_batch(batch.column(0), tokenizer), vocabulary, 1)
        if sum(map(len, held)) >= IDS_AT_ONCE:
            yield np.concatenate(held)
            held = []
    if held:
        yield np.concatenate(held)


def pair_rows(rows: SparseRows, borders: npt.NDArray[np.int64]) -> Iterator[pa.RecordBatch]:
    """Counts as Spark's rows, one for each pair of words."""
    lengths = np.diff(rows.begins)
    words = np.repeat(np.arange(rows.first, rows.first + len(lengths), dtype=np.int32), lengths)
    for first in range(0, len(words), PAIRS_IN_A_BATCH):
        part = slice(first, first + PAIRS_IN_A_BATCH)
        blocks = (np.searchsorted(borders, words[part], side="right") - 1).astype(np.int32)
        columns = (blocks, words[part], rows.columns[part], rows.values[part])
        yield pa.RecordBatch.from_arrays(
            [pa.array(column) for column in columns], ["block", "word", "neighbor", "count"]
        )


def packed_block(group: pa.Table, borders: npt.NDArray[np.int64], stored: pa.DataType) -> pa.Table:
    """A block's pairs as one row: the lengths of its words' rows, then all of them in order."""
    block, word, neighbor, count = (group[name].to_numpy() for name in group.column_names)
    first, last = borders[block[0] : block[0] + 2].tolist()
    order = np.lexsort((neighbor, word))
    arrays = {
        "lengths": np.bincount(word - first, minlength=last - first),
        "neighbors": neighbor[order],
        "counts": count[order],
    }
    packed = {name: pa.array([array.tobytes()], stored) for name, array in arrays.items()}
    return pa.table({"block": pa.array(block[:1]), **packed})


def unpacked(
    rows: Iterable[Any], borders: npt.NDArray[np.int64], allocate: Allocate
) -> Cooccurrence:
    """The counts of all words, in whatever order the blocks come."""
    found: dict[int, SparseRows] = {}
    for row in rows:
        first = int(borders[row.block])
        begins = offsets_of(np.frombuffer(row.lengths, np.int64))
        columns = kept(row.neighbors, np.dtype(np.int32), allocate)
        counts = kept(row.counts, np.dtype(np.int64), allocate)
        found[row.block] = SparseRows(first, begins, columns, counts)
    empty = (np.zeros(0, np.int32), np.zeros(0, np.int64))
    for block in set(range(len(borders) - 1)) - found.keys():
        first, last = borders[block : block + 2].tolist()
        found[block] = SparseRows(first, np.zeros(last - first + 1, np.int64), *empty)
    return Cooccurrence(int(borders[-1]), tuple(found[block] for block in sorted(found)))


def kept(content: bytes, kind: np.dtype[Any], allocate: Allocate) -> npt.NDArray[Any]:
    """What came as bytes, in the room that there is for it."""
    array = allocate(len(content) // kind.itemsize, kind)
    array[:] = np.frombuffer(content, kind)
    return array
