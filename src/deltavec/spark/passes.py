"""One pass over a column: the counts of its words, or the second moment of its vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from deltavec.core.components import SecondMoment
from deltavec.core.passes import counted, embedded
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.texts import as_texts
from deltavec.spark.arrival import arrived_model, arrived_vocabulary
from deltavec.spark.tables import Chunks, summed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

NUMBERS_BEFORE_COUNTS = 3  # documents, tokens, unknown_documents
ONE_THREAD = 1  # Spark runs a task on each core


def corpus_statistics(texts: DataFrame, tokenizer: str, key: str, words: int) -> CorpusStatistics:
    """The counts of a whole column for the vocabulary that was shipped under this key."""

    def table_of(chunks: Chunks) -> npt.NDArray[np.int64] | None:
        vocabulary = arrived_vocabulary(key)
        statistics = CorpusStatistics.empty(len(vocabulary))
        for chunk in chunks:
            statistics += counted(as_texts(chunk, tokenizer), vocabulary, ONE_THREAD)
        return as_table(statistics) if statistics.documents else None

    return of_table(summed(texts, table_of, as_table(CorpusStatistics.empty(words))))


def as_table(statistics: CorpusStatistics) -> npt.NDArray[np.int64]:
    """Statistics as one row of integers, which add."""
    numbers = [statistics.documents, statistics.tokens, statistics.unknown_documents]
    return np.concatenate(
        [np.array(numbers, np.int64), statistics.token_counts, statistics.document_counts]
    )


def of_table(table: npt.NDArray[np.int64]) -> CorpusStatistics:
    """The statistics that such a row holds."""
    documents, tokens, unknown = (int(number) for number in table[:NUMBERS_BEFORE_COUNTS])
    token_counts, document_counts = np.split(table[NUMBERS_BEFORE_COUNTS:], 2)
    return CorpusStatistics(token_counts, document_counts, documents, tokens, unknown)


def second_moment(texts: DataFrame, key: str, dimensions: int) -> SecondMoment:
    """The second moment of a column's vectors, by the model that was shipped under this key."""

    def table_of(chunks: Chunks) -> npt.NDArray[np.float64] | None:
        model = arrived_model(key)
        moment = SecondMoment.empty(dimensions)
        for chunk in chunks:
            texts = as_texts(chunk, model.tokenizer)
            moment += SecondMoment.of(embedded(texts, model.vocabulary, model.folded, ONE_THREAD))
        return flattened(moment) if moment.documents else None

    numbers = summed(texts, table_of, flattened(SecondMoment.empty(dimensions)))
    return SecondMoment(numbers[1:].reshape(dimensions, dimensions), int(numbers[0]))


def flattened(moment: SecondMoment) -> npt.NDArray[np.float64]:
    """A moment as one row of numbers, which add; documents are exact below 2 ** 53."""
    return np.concatenate([[float(moment.documents)], moment.matrix.ravel()])
