"""Pieces of a corpus and their vectors, by a model that lies in a file."""

import numpy as np
import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.core.arrays import mapped_file
from deltavec.io.corpus.columns import Piece
from deltavec.io.output import pipeline as module
from deltavec.io.output.pipeline import Table, embedded_pieces

TEXTS = ["a quiet room", "a loud street", "", "nothing known here", "quiet street, quiet room"]


@pytest.fixture
def mapped(tmp_path):
    words = ["a", "quiet", "room", "loud", "street"]
    vectors = np.random.default_rng(0).standard_normal((len(words), 8), np.float32)
    dv.fit(TEXTS, dv.WordVectors(words, vectors), "idf-sum").save(tmp_path / "model.dv")
    model = dv.load(tmp_path / "model.dv")
    assert mapped_file(model.table.rows) is not None
    return model


def test_rows_are_taken_into_memory_of_their_own_after_as_much_text_as_they_have_bytes(mapped):
    rows = mapped.table.rows
    table = Table(mapped.table)
    assert table.for_text_of(rows.nbytes) is mapped.table
    taken = table.for_text_of(1)
    assert mapped_file(taken.rows) is None
    assert taken.rows.tobytes() == rows.tobytes()
    assert table.for_text_of(1) is taken


def test_a_table_too_large_for_a_copy_stays_where_it_is(mapped, monkeypatch):
    monkeypatch.setattr(module, "LARGEST_COPIED", mapped.table.rows.nbytes - 1)
    assert Table(mapped.table).for_text_of(1 << 20) is mapped.table


def test_vectors_are_the_same_before_and_after_the_rows_were_copied(mapped):
    batch = pa.record_batch([pa.array(TEXTS * 5)], names=["text"])
    made = list(embedded_pieces(mapped, [Piece(batch, None)] * 6, threads=2))
    expected = mapped.embed(TEXTS * 5).tobytes()
    assert [piece.found.vectors.tobytes() for piece in made] == [expected] * 6
