"""Words on their way between Arrow columns and vocabularies."""

from __future__ import annotations

import pyarrow as pa

from deltavec.io.vectors.rows import binary_array, vocabulary_of


def test_a_column_of_bytes_becomes_a_vocabulary_wherever_it_begins() -> None:
    column = pa.array([b"the", b"sea", "ça".encode()], pa.large_binary())
    assert vocabulary_of(column).words == ["the", "sea", "ça"]
    assert vocabulary_of(column[1:]).words == ["sea", "ça"]
    assert vocabulary_of(column[:0]).words == []


def test_a_vocabulary_becomes_a_column_and_comes_back() -> None:
    column = pa.array([b"the", b"", "\u00e7a".encode()], pa.large_binary())
    words = vocabulary_of(column)
    assert binary_array(words.data, words.offsets).equals(column)
