"""Pieces of a corpus and their vectors, by a model that lies in a file."""

import numpy as np
import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.core.arrays import mapped_file
from deltavec.io.corpus.columns import Piece
from deltavec.io.output.embed_to_file import embedded_pieces

TEXTS = ["a quiet room", "a loud street", "", "nothing known here", "quiet street, quiet room"]


@pytest.fixture
def mapped(tmp_path):
    words = ["a", "quiet", "room", "loud", "street"]
    vectors = np.random.default_rng(0).standard_normal((len(words), 8), np.float32)
    dv.fit(TEXTS, dv.WordVectors(words, vectors), "idf-sum").save(tmp_path / "model.dv")
    model = dv.load(tmp_path / "model.dv")
    assert mapped_file(model.table.rows) is not None
    return model


def test_vectors_of_a_mapped_model_are_those_of_the_model(mapped):
    batch = pa.record_batch([pa.array(TEXTS * 5)], names=["text"])
    made = list(embedded_pieces(mapped, [Piece(batch, None)] * 6, threads=2))
    expected = mapped.embed(TEXTS * 5).tobytes()
    assert [piece.found.vectors.tobytes() for piece in made] == [expected] * 6
