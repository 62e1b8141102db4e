import copy

import numpy as np
import pytest

from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import VectorsError


def test_rows_are_scaled_to_unit_length():
    vectors = WordVectors(["sea", "room"], [[3, 4], [0, 0.5]])
    assert vectors.matrix.tolist() == [[np.float32(0.6), np.float32(0.8)], [0, 1]]
    assert vectors.matrix.dtype == np.float32
    assert vectors.dimensions == 2
    assert len(vectors) == 2
    assert repr(vectors) == "WordVectors(2 words, 2 dimensions)"


def test_a_row_of_zeros_is_left_out_and_counted():
    vectors = WordVectors(["sea", "void", "room"], [[1, 0], [0, 0], [0, 1]])
    assert vectors.words == ["sea", "room"]
    assert dict(vectors.dropped) == {"zero rows": 1}
    assert vectors["room"].tolist() == [0, 1]


def test_a_word_without_a_vector_is_a_key_error():
    vectors = WordVectors(["sea"], [[1.0]])
    assert "sea" in vectors
    with pytest.raises(KeyError, match="pool"):
        vectors["pool"]


def test_copies_share_the_matrix():
    vectors = WordVectors(["sea"], [[1.0]])
    assert copy.deepcopy(vectors) is vectors
    assert copy.copy(vectors) is vectors


def test_the_matrix_cannot_be_written_to():
    vectors = WordVectors(["sea"], [[1.0]])
    with pytest.raises(ValueError, match="read-only"):
        vectors.matrix[0, 0] = 2


def test_the_fingerprint_names_the_content():
    one = WordVectors(["sea"], [[1.0, 1.0]])
    assert one.fingerprint == WordVectors(["sea"], [[2.0, 2.0]]).fingerprint
    assert one.fingerprint != WordVectors(["sky"], [[1.0, 1.0]]).fingerprint


def test_unit_rows_are_kept_as_they_are():
    matrix = np.eye(2, dtype=np.float32)
    vectors = WordVectors.from_unit_rows(Vocabulary.of(["a", "b"]), matrix)
    assert np.shares_memory(vectors.matrix, matrix)


def test_unit_rows_must_fit_the_words():
    with pytest.raises(VectorsError, match=r"expected 1 rows of float32, got \(2, 2\)"):
        WordVectors.from_unit_rows(Vocabulary.of(["a"]), np.eye(2, dtype=np.float32))


@pytest.mark.parametrize(
    ("words", "matrix", "message"),
    [
        (["a", "a"], [[1.0], [2.0]], "distinct, got 'a' twice"),
        (["a"], [[1.0], [2.0]], "one row of numbers for each of 1 words"),
        (["a"], [1.0], "one row of numbers"),
        (["a"], [[]], "0 columns"),
        (["a"], [["x"]], "rows of numbers"),
        (["a", 7], [[1.0], [2.0]], r"every word must be a string, got int \(7\)"),
        (["a", "b"], [[1.0], [np.nan]], r"'b' \(row 1\) holds NaN or infinity"),
        (["a", "b"], [[np.inf], [1.0]], r"'a' \(row 0\) holds NaN or infinity"),
    ],
)
def test_what_cannot_be_word_vectors_is_refused(words, matrix, message):
    with pytest.raises(VectorsError, match=message):
        WordVectors(words, matrix)
