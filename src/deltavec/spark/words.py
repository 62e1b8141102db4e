"""The vocabulary of a column, learned in Spark: every word, and how often it occurs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.discovery import WordCounts, frequent_words
from deltavec.core.texts import as_texts
from deltavec.core.vocabulary import Vocabulary
from deltavec.spark.frames import bytes_type, failing_clearly

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# A task that has met so many distinct words hands them on, and begins anew.
DISTINCT_AT_ONCE = 1 << 20
SCHEMA = "word binary, count long"


class WordsInSpark(WordCounts):
    """Words that were counted in Spark, and stay there until it is known which are wanted."""

    def __init__(self, counted: DataFrame) -> None:
        from pyspark.sql import functions

        self._counted = counted.where("word is not null")
        self.distinct = self._counted.count()
        passed = counted.where("word is null").agg(functions.sum("count")).first()
        self.tokens = int((passed and passed[0]) or 0)

    def frequent(self, min_count: int) -> tuple[Vocabulary, npt.NDArray[np.int64]]:
        """The words that occur at least so often and their counts, the most frequent first."""
        table = self._counted.where(f"count >= {int(min_count)}").toArrow()
        # Bytes decide between words of one count, as on one machine.
        table = table.sort_by([("count", "descending"), ("word", "ascending")])
        words = table["word"].cast(pa.large_binary()).combine_chunks()
        return vocabulary_of(words), table["count"].to_numpy()


def learned_vocabulary(texts: DataFrame, tokenizer: str, min_count: int | None) -> Vocabulary:
    """The frequent words of a column, the most frequent first."""
    with failing_clearly(), counted_words(texts, tokenizer) as counted:
        return frequent_words(WordsInSpark(counted), min_count)


@contextmanager
def counted_words(texts: DataFrame, tokenizer: str) -> Iterator[DataFrame]:
    """All words with their counts; beside null, how many words there are in all."""
    from pyspark.sql import functions

    stored = bytes_type(texts)

    def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        counts = WordCounts()
        for batch in batches:
            counts.add(as_texts(batch.column(0), tokenizer))
            if counts.distinct >= DISTINCT_AT_ONCE:
                yield from listed(counts, stored)
                counts = WordCounts()
        yield from listed(counts, stored)

    partial = texts.mapInArrow(counted, SCHEMA)
    whole = partial.groupBy("word").agg(functions.sum("count").alias("count"))
    # Asked three times, counted once: how many words there are decides which are wanted.
    whole.persist()
    try:
        yield whole
    finally:
        whole.unpersist()


def listed(counts: WordCounts, stored: pa.DataType) -> Iterator[pa.RecordBatch]:
    """The counted words as Spark's rows, and beside null the sum of all."""
    yield pa.RecordBatch.from_arrays(
        [pa.array([None], stored), pa.array([counts.tokens], pa.int64())], ["word", "count"]
    )
    vocabulary, occurrences = counts.frequent(1)
    words = pa.LargeBinaryArray.from_buffers(
        pa.large_binary(),
        len(vocabulary),
        [None, pa.py_buffer(vocabulary.offsets), pa.py_buffer(vocabulary.data)],
    )
    yield pa.RecordBatch.from_arrays([words.cast(stored), occurrences], ["word", "count"])


def vocabulary_of(words: Any) -> Vocabulary:
    """The vocabulary of an Arrow column of distinct words."""
    if len(words) == 0:
        return Vocabulary.of([])
    offsets = np.frombuffer(words.buffers()[1], np.int64)[words.offset :][: len(words) + 1]
    data = np.frombuffer(words.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
    return Vocabulary(data.copy(), offsets - offsets[0])
