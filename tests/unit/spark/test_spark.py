"""What deltavec.spark does without Spark: counts on their way, packed and unpacked."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from deltavec.core.kernels.tokenize import LONGEST_LEARNED
from deltavec.core.learning.cooccurrence import cooccurrence, count_blocks
from deltavec.core.learning.vocabulary_builder import WordCounts
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.text.batches import as_text_batch
from deltavec.core.vocabulary import Vocabulary
from deltavec.spark import pairs
from deltavec.spark import reduce as passes
from deltavec.spark.fit import SparkColumn, word_rows
from deltavec.spark.ship import as_lists
from support.pair_counts import dense

WINDOW = 3


@pytest.fixture
def ids() -> np.ndarray:
    """2,000 documents of 10 words out of 200, the low numbers far more often; word 199 never."""
    drawn = np.minimum(np.random.default_rng(0).zipf(1.3, (2000, 10)) - 1, 198)
    closed = np.hstack([drawn, np.full((2000, 1), -1)])
    return closed.astype(np.int32).ravel()


def spread_out(ids: np.ndarray, borders: np.ndarray) -> list[pa.Table]:
    """The pairs of two halves of the documents, added up by Arrow, a table for each block."""
    halves = (ids[: ids.size // 2], ids[ids.size // 2 :])
    batches = [
        batch
        for half in halves
        for rows, _ in count_blocks(half, None, 200, WINDOW, np.empty, 1, 1 << 28, np.int64)
        for batch in pairs.pair_rows(rows, borders)
    ]
    table = pa.Table.from_batches(batches)
    added = table.group_by(["block", "word", "neighbor"]).aggregate([("count", "sum")])
    added = added.rename_columns(["block", "word", "neighbor", "count"])
    numbers = added["block"].to_numpy()
    return [added.filter(pa.array(numbers == block)) for block in np.unique(numbers)]


def test_pairs_counted_in_parts_and_packed_in_blocks_are_those_of_the_whole(
    ids: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pairs, "PAIRS_IN_A_BLOCK", 1000)
    monkeypatch.setattr(pairs, "PAIRS_IN_A_BATCH", 100)
    borders = pairs.block_borders(np.bincount(ids[ids >= 0], minlength=200), WINDOW)
    assert len(borders) > 2
    tables = [pairs.packed_block(group, borders, pa.binary()) for group in spread_out(ids, borders)]
    rows = [Row(**row) for table in reversed(tables) for row in table.to_pylist()]
    counts = pairs.unpacked(rows, borders, np.empty)
    whole = cooccurrence(ids, 200, WINDOW)
    np.testing.assert_array_equal(dense(counts), dense(whole))
    np.testing.assert_array_equal(counts.totals, whole.totals)


class Row:
    """A row as Spark gives it."""

    def __init__(self, **values: object) -> None:
        self.__dict__.update(values)


def test_a_block_of_words_that_never_meet_is_empty() -> None:
    borders = np.array([0, 2, 5])
    counts = pairs.unpacked([], borders, np.empty)
    assert [block.first for block in counts.blocks] == [0, 2]
    assert dense(counts).shape == (5, 5)
    assert not dense(counts).any()


def test_documents_are_gathered_until_counting_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "IDS_AT_ONCE", 4)
    batches = [pa.record_batch({"text": texts}) for texts in (["a b", None], ["b"], ["a"])]
    gathered = list(pairs.gathered_ids(batches, "words", Vocabulary.of(["a", "b"])))
    assert [ids.tolist() for ids in gathered] == [[0, 1, -1, -1], [1, -1, 0, -1]]


def test_counted_words_become_rows_and_their_sum_stands_beside_null() -> None:
    counts = WordCounts()
    counts.add(as_text_batch(["the Sea the sea", "x" * (LONGEST_LEARNED + 1), "Ça"], "words"))
    rows = pa.Table.from_batches(list(word_rows(counts, pa.binary()))).to_pylist()
    found = {row["word"]: row["count"] for row in rows}
    assert found == {None: 6, b"the": 2, b"sea": 2, "ça".encode(): 1}


def test_statistics_survive_the_way_as_one_row() -> None:
    statistics = CorpusStatistics(np.array([5, 0]), np.array([2, 0]), 3, 7, 1)
    back = passes.of_table(passes.as_table(statistics))
    assert (back.documents, back.tokens, back.unknown_documents) == (3, 7, 1)
    np.testing.assert_array_equal(back.token_counts, [5, 0])
    np.testing.assert_array_equal(back.document_counts, [2, 0])


def test_vectors_become_lists_without_a_copy() -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    lists = as_lists(matrix)
    assert lists.to_pylist() == [[0, 1, 2], [3, 4, 5]]
    assert lists.values.buffers()[1].address == matrix.ctypes.data


def test_a_tokenizer_of_one_s_own_is_refused_with_a_way_out() -> None:
    with pytest.raises(ValueError, match=r"got a callable: .* use 'whitespace'"):
        SparkColumn(None, tokenizer=str.split)
