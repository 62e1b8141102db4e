"""Files of word vectors, sound and odd: what comes out, what is counted, what is refused."""

from __future__ import annotations

import gzip
import json
import mmap
import pickle
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gensim
import numpy as np
import pyarrow as pa
import pytest
from gensim.models import KeyedVectors, Word2Vec
from gensim.test.utils import datapath
from safetensors.numpy import save_file

from deltavec.core.vectors import WordVectors
from deltavec.errors import VectorsError
from deltavec.io.vectors.load import load_vectors, save_vectors

Write = Callable[..., Path]

SEA_AND_ROOM = np.array([[0.6, 0.8], [0.0, 1.0]], np.float32)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(content: str | bytes, name: str = "glove.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return to_file


def binary(header: str, *rows: tuple[bytes, list[float]], end: bytes = b"\n") -> bytes:
    packed = [word + b" " + struct.pack(f"<{len(row)}f", *row) + end for word, row in rows]
    return header.encode() + b"\n" + b"".join(packed)


def assert_sea_and_room(vectors: WordVectors) -> None:
    assert vectors.words == ["sea", "room"]
    assert vectors.matrix.tolist() == SEA_AND_ROOM.tolist()
    assert not vectors.dropped


# What is read


@pytest.mark.parametrize(
    "content",
    [
        "sea 3 4\nroom 0 2\n",
        "sea 3 4\nroom 0 2",
        "2 2\nsea 3 4\nroom 0 2\n",
        "2 2 \nsea 3.0 4e0 \nroom 0 +2 \n",
        "2 2\r\nsea 3 4\r\nroom 0 2\r\n",
        "2 2\r\nsea 3 4 \r\nroom 0 2 \r\n",
        "\ufeff2 2\nsea 3 4\nroom 0 2\n",
        "\ufeffsea 3 4\nroom 0 2\n",
        "sea\t3\t4\nroom\t0\t2\n",
        "2\t2\nsea 3  4\n room 0 2\n",
        binary("2 2", (b"sea", [3, 4]), (b"room", [0, 2])),
        binary("2 2", (b"sea", [3, 4]), (b"room", [0, 2]), end=b""),
    ],
)
@pytest.mark.parametrize("codec", [None, "gzip", "zstd"])
def test_every_layout_gives_the_same_vectors(
    write: Write, content: str | bytes, codec: str | None
) -> None:
    data = content.encode() if isinstance(content, str) else content
    if codec is not None:
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, codec) as stream:
            stream.write(data)
        data = sink.getvalue().to_pybytes()
    assert_sea_and_room(load_vectors(write(data, "a name that says nothing")))


def test_a_word_may_hold_spaces(write: Write) -> None:
    lines = [". . . 1 2 3", "at name@domain.com 1 2 3", "sea 1 2 3", "300 1 2 3", "a\xa0b 1 2 3"]
    vectors = load_vectors(write("\n".join(lines)))
    assert vectors.words == [". . .", "at name@domain.com", "sea", "300", "a\xa0b"]
    assert vectors.dimensions == 3


def test_quotes_and_the_names_of_nothing_are_words(write: Write) -> None:
    words = ['"', "'", '""', "nan", "null", "NA", "None", "#", "\\", ",", "1e5"]
    assert load_vectors(write("".join(f"{word} 1 2\n" for word in words))).words == words


def test_vectors_that_have_unit_length_keep_their_bits(write: Write) -> None:
    rows = np.random.default_rng(0).standard_normal((50, 20)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    text = "".join(f"w{i} {' '.join(map(repr, row.tolist()))}\n" for i, row in enumerate(rows))
    assert load_vectors(write(text)).matrix.tobytes() == rows.tobytes()


@pytest.mark.compiled
def test_a_block_with_an_odd_line_is_read_like_the_others(write: Write) -> None:
    """Several blocks of lines, one of which leaves the fast path."""
    lines = [f"w{i} {i % 7 - 3}.25 {i}e-3" + 30 * " 0.125" for i in range(60_000)]
    plain = load_vectors(write("\n".join(lines), "plain.txt"))
    lines[30_000] = lines[30_000].replace(" ", "  ")
    odd = load_vectors(write("\n".join(lines), "odd.txt"))
    assert odd.words == plain.words
    assert odd.matrix.tobytes() == plain.matrix.tobytes()


def test_binary_words_may_begin_with_a_newline_and_hold_no_space(write: Write) -> None:
    content = binary("2 2", (b"\nsea", [3, 4]), ("hôtel".encode(), [0, 2]))
    assert load_vectors(write(content)).words == ["sea", "hôtel"]


def test_binary_rows_longer_than_the_first_sample_are_read(write: Write) -> None:
    rows = np.random.default_rng(0).standard_normal((7, 300_000)).astype(np.float32)
    data = [f"w{i} ".encode() + row.tobytes() for i, row in enumerate(rows)]
    vectors = load_vectors(write(b"7 300000\n" + b"".join(data)))
    np.testing.assert_allclose(
        vectors.matrix, rows / np.linalg.norm(rows, axis=1, keepdims=True), atol=1e-7
    )


# What is left out, and counted


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"sea 9 9", "duplicate words"),
        (b"pool 0 -0.0", "zero rows"),
        (b"pool 1e-60 0", "zero rows"),
        (b"p\xc3 1 2", "words not UTF-8"),
        (b"\xed\xa0\x80 1 2", "words not UTF-8"),
        (b" 1 2", "empty words"),
        (b"", "blank lines"),
        (b"  ", "blank lines"),
    ],
)
@pytest.mark.parametrize("header", [b"", b"3 2\n"])
def test_what_cannot_be_used_is_left_out_and_counted(
    write: Write, header: bytes, line: bytes, reason: str
) -> None:
    if header and reason == "blank lines":
        header = b"2 2\n"
    vectors = load_vectors(write(header + b"sea 3 4\n" + line + b"\nroom 0 2\n"))
    assert vectors.dropped == {reason: 1}
    assert vectors.words == ["sea", "room"]
    assert vectors.matrix.tolist() == SEA_AND_ROOM.tolist()


def test_binary_rows_that_cannot_be_used_are_left_out_and_counted(write: Write) -> None:
    rows = [
        (b"sea", [3.0, 4.0]),
        (b"sea", [1.0, 1.0]),
        (b"", [1.0, 1.0]),
        (b"\xff", [0.0, 0.0]),
        (b"pool", [0.0, 0.0]),
        (b"room", [0.0, 2.0]),
    ]
    vectors = load_vectors(write(binary("6 2", *rows)))
    assert vectors.words == ["sea", "room"]
    assert vectors.dropped == {
        "duplicate words": 1,
        "empty words": 1,
        "words not UTF-8": 1,
        "zero rows": 1,
    }


def test_halves_of_a_character_do_not_make_a_word_together(write: Write) -> None:
    vectors = load_vectors(write(b"\xc3 1 2\n\xa9 1 2\nsea 1 2\n"))
    assert vectors.words == ["sea"]
    assert vectors.dropped == {"words not UTF-8": 2}


def test_nothing_usable_is_an_error_that_says_what_was_left_out(write: Write) -> None:
    with pytest.raises(VectorsError, match=r"no usable word vectors \(2 zero rows\)"):
        load_vectors(write("sea 0 0\nroom 0 0\n"))


# What is refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("sea 1 2 3\nroom 1 2 3\npool 1 2\n", "line 3: expected 3 numbers, found 2; the file loo"),
        ("2 3\nsea 1 2 3\nroom 1 2", "line 3: expected 3 numbers, found 2; the file looks cut"),
        ("2 3\nsea 1 2 3\nroom", "line 3: expected 3 numbers, found 0; the file looks cut"),
        ("1 3\nsea 1 2\n", "line 2: expected 3 numbers, found 2"),
        ("sea 1 2\nroom 1 2\nthe cat 1 x2\n", "line 3: expected 2 numbers at its end, found 'x2'"),
        ("sea 1 2\nroom 1 2\npool 1,5 2\n", "line 3: expected 2 numbers at its end, found '1,5'"),
        ("sea 1 2\nroom 1 nan\n", "line 2: the vector of 'room' holds NaN or infinity"),
        ("sea 1 2\n\nroom inf 2\n", "line 3: the vector of 'room' holds NaN or infinity"),
        ("2 2\nsea 1 2\nroom 1 1e39\n", "line 3: the vector of 'room' holds NaN or infinity"),
        (
            "3 2\nsea 1 2\nroom 1 2\n",
            "the header promises 3 words, found 2; the file looks cut sho",
        ),
        ("1 2\nsea 1 2\nroom 1 2\n", "promises 1 words, found 2: correct the header, or pass limi"),
        ("2 2\nsea 1 2 3\nroom 1 2 3\n", "line 1: the header says 2 numbers .* have 3: correct"),
        ("999999999999 300\nsea 1 2\n", "promises 999,999,999,999 words of 300 numbers, at least"),
        ("3 999999999999\nsea 1 2\n", "line 1: expected a header of at least one word and of 1 to"),
        ("0 300\n", "line 1: expected a header of at least one word"),
        ("5 0\n", "line 1: expected a header of at least one word"),
        ("2 2\n", "at least 10 bytes, and the file has 4"),
        ("", "is empty"),
        ("Once upon a time\nthere was\n", "its first lines do not end in numbers"),
        ("the 120\nroom 30\n", "a list of words and counts"),
        (b"\x00\x01\x02garbage", "its first lines do not end in numbers"),
        (b"PK\x03\x04 and so on", "is an archive: unpack it first"),
        (b"BZh91AY", "is an archive: unpack it first"),
        (b"\xba\x16\x4f\x2f\x0c\x00", "is a fastText model: load the .vec file"),
        (pickle.dumps({"sea": 1}), "is a pickle"),
        (pickle.dumps({"sea": 1}, protocol=2), "is a pickle"),
        (gzip.compress(pickle.dumps({"sea": 1}), mtime=0), "is a pickle"),
    ],
)
def test_an_odd_file_gets_an_error_that_says_where_and_what(
    write: Write, content: str | bytes, message: str
) -> None:
    with pytest.raises(VectorsError, match=rf"^glove.txt.*{message}"):
        load_vectors(write(content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            binary("3 2", (b"sea", [3, 4]), (b"room", [0, 2])) + b"pool \x00\x00\x80\x3f\x00",
            "word 3 of 3: expected 2 numbers, found 1; the file looks cut short",
        ),
        (
            binary("3 2", (b"sea", [3, 4]), (b"room", [0, 2])) + b"a_word_that_never_ends",
            "word 3 of 3: expected 2 numbers, found 0; the file looks cut short",
        ),
        (binary("1 2", (b"sea", [3, 4]), (b"room", [0, 2])), "promises 1 words, and more follow"),
        (binary("1 2", (b"sea", [3, float("nan")])), "word 1: the vector of 'sea' holds NaN"),
        (
            binary("999999999999 300", (b"sea", [3.0] * 300)),
            "promises 999,999,999,999 words of 300 numbers, at least 1,200,999,999,998,799 bytes",
        ),
    ],
)
def test_an_odd_binary_file_gets_an_error_that_says_where_and_what(
    write: Write, content: bytes, message: str
) -> None:
    with pytest.raises(VectorsError, match=rf"^google.bin.*{message}"):
        load_vectors(write(content, "google.bin"))


@pytest.mark.parametrize("header", ["999999999999 2", "2 900000"])
def test_a_header_in_a_compressed_file_takes_no_memory_on_its_word(
    write: Write, header: str
) -> None:
    with pytest.raises(VectorsError, match="cut short"):
        load_vectors(write(gzip.compress(f"{header}\nsea 1 2\n".encode())))
    with pytest.raises(VectorsError, match="cut short"):
        load_vectors(write(gzip.compress(binary(header, (b"sea", [1.0, 2.0])))))


def test_a_tensor_of_an_impossible_shape_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "odd.safetensors"
    for shape in ([0, 2**63 - 1], [0, 2**40, 2**40], [1] * 70):
        size = 4 * int(np.prod([float(n) for n in shape]))
        entry = {"dtype": "F32", "shape": shape, "data_offsets": [0, size]}
        header = json.dumps({"matrix": entry}).encode()
        path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(size))
        with pytest.raises(VectorsError, match=r"odd\.safetensors"):
            load_vectors(path)


def test_a_small_file_that_unfolds_to_gigabytes_is_refused(write: Write) -> None:
    bomb = gzip.compress(b"sea 1 2\n" * (1 << 23), 9)
    assert len(bomb) < 1 << 18
    with pytest.raises(VectorsError, match="decompresses to more than 50 times its size"):
        load_vectors(write(bomb + bomb))


def test_damaged_compression_is_an_error(write: Write) -> None:
    packed = gzip.compress(b"sea 1 2\nroom 3 4\n" * 100)
    with pytest.raises(VectorsError, match=r"glove.txt: the gzip compression is damaged or cut"):
        load_vectors(write(packed[:-12]))


def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path) -> None:
    with pytest.raises(VectorsError, match="nothing there"):
        load_vectors(tmp_path / "glove.txt")
    with pytest.raises(VectorsError, match="a folder"):
        load_vectors(tmp_path)


def test_a_line_without_an_end_is_an_error_and_not_a_full_memory(write: Write) -> None:
    with pytest.raises(VectorsError, match="no line end"):
        load_vectors(write(b"x" * (70 << 20)))


# A limit


@pytest.mark.parametrize(
    "content",
    [
        "sea 3 4\nroom 0 2\npool 1",
        "sea 3 4\nroom 0 2\npool nan nan\n",
        "3 2\nsea 3 4\nroom 0 2\npool\n",
        "900 2\nsea 3 4\nroom 0 2\npool 1 1\n",
        "1 2\nsea 3 4\nroom 0 2\npool 1 1\n",
        binary("900 2", (b"sea", [3, 4]), (b"room", [0, 2])),
        binary("3 2", (b"sea", [3, 4]), (b"room", [0, 2]), (b"pool", [np.nan, 1])),
    ],
)
def test_a_limit_leaves_the_rest_unread(write: Write, content: str | bytes) -> None:
    assert_sea_and_room(load_vectors(write(content), limit=2))


def test_a_limit_counts_rows_of_the_file(write: Write) -> None:
    vectors = load_vectors(write("sea 1 2\nsea 1 2\nroom 1 2\n"), limit=2)
    assert vectors.words == ["sea"]
    assert vectors.dropped == {"duplicate words": 1}


@pytest.mark.parametrize("limit", [0, -1, 2.0, True, "2"])
def test_a_limit_is_a_positive_whole_number(write: Write, limit: int) -> None:
    with pytest.raises(VectorsError, match="limit must be a whole number from 1 on, got"):
        load_vectors(write("sea 1 2\n"), limit=limit)


# Matrices with words of their own


def is_mapped(matrix: np.ndarray) -> bool:
    base: object = matrix
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base, mmap.mmap)


def test_unit_rows_stay_in_the_file(tmp_path: Path) -> None:
    save_vectors(WordVectors(["sea", "room"], SEA_AND_ROOM), tmp_path / "own.safetensors")
    assert is_mapped(load_vectors(tmp_path / "own.safetensors").matrix)
    assert is_mapped(load_vectors(tmp_path / "own.safetensors", limit=1).matrix)


def keyed(words: list[Any], matrix: Any) -> Any:
    return SimpleNamespace(index_to_key=words, vectors=np.asarray(matrix))


def test_rows_of_a_matrix_that_cannot_be_used_are_left_out_and_counted() -> None:
    rows = np.array([[0.6, 0.8], [1, 0], [0, 0], [0, 1], [1, 0]], "f4")
    vectors = load_vectors(keyed(["sea", "", "pool", "room", "\ud800"], rows))
    assert vectors.words == ["sea", "room"]
    assert vectors.matrix.tolist() == SEA_AND_ROOM.tolist()
    assert vectors.dropped == {"empty words": 1, "zero rows": 1, "words not UTF-8": 1}


@pytest.mark.parametrize(
    ("matrix", "words", "message"),
    [
        (SEA_AND_ROOM, ["sea"], "one word for each row, got 1 words and 2 rows"),
        ([1.0, 2.0], ["a", "b"], r"expected a matrix of numbers, got shape \(2,\)"),
        ([["a"]], ["a"], "expected a matrix of numbers"),
        (np.zeros((2, 0)), ["a", "b"], "expected a matrix of numbers"),
        ([[1.0, np.nan]], ["sea"], "row 0: the vector of 'sea' holds NaN"),
        ([[1.0, 1e200]], ["sea"], "row 0: the vector of 'sea' holds NaN or inf"),
        (SEA_AND_ROOM, ["sea", 2], r"every word must be a string, got int \(2\) at 1"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(matrix: Any, words: list[Any], message: str) -> None:
    with pytest.raises(VectorsError, match=message):
        load_vectors(keyed(words, matrix))


def test_a_numpy_file_is_refused_and_the_error_says_what_to_pass(tmp_path: Path) -> None:
    np.save(tmp_path / "own.npy", SEA_AND_ROOM)
    with pytest.raises(VectorsError, match=r"own.npy has no words: pass WordVectors\(words, numpy"):
        load_vectors(tmp_path / "own.npy")


def test_a_compressed_matrix_is_refused(tmp_path: Path) -> None:
    save_vectors(WordVectors(["sea"], [[1.0]]), tmp_path / "own.safetensors")
    packed = gzip.compress((tmp_path / "own.safetensors").read_bytes())
    (tmp_path / "own.safetensors.gz").write_bytes(packed)
    with pytest.raises(VectorsError, match=r"is a compressed safetensors file: unpack it"):
        load_vectors(tmp_path / "own.safetensors.gz")


# safetensors


def test_a_safetensors_file_of_another_layout_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"embeddings": SEA_AND_ROOM, "weights": np.ones(2)}, path)
    with pytest.raises(
        VectorsError, match=r"got other tensors \(embeddings, weights\): pass WordV"
    ):
        load_vectors(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"offsets": np.array([0, 9, 7], np.int64)}, "offsets do not fit the words"),
        ({"offsets": np.array([0, 3, 8], np.int64)}, "offsets do not fit the words"),
        ({"offsets": np.array([1, 3, 7], np.int64)}, "offsets do not fit the words"),
        ({"offsets": np.array([], np.int64)}, "offsets do not fit the words"),
        ({"offsets": np.array([0, 2**62, 7], np.int64)}, "offsets do not fit the words"),
        # each step seems to go up, where differences wrap around
        ({"offsets": np.array([0, 2**63 - 1, -2, 7], np.int64)}, "offsets do not fit the words"),
        ({"matrix": np.zeros((0, 2), np.float32)}, "got 2 words and 0 rows"),
        ({"matrix": np.zeros((2, 0), np.float32)}, "expected a matrix of numbers"),
        ({"offsets": np.array([0, 7], np.int64)}, "one word for each row, got 1 words and 2 rows"),
        ({"offsets": np.array([0, 3, 7], np.int32)}, "expected the tensors"),
        ({"matrix": SEA_AND_ROOM.astype(np.float64)}, "expected the tensors"),
        ({"matrix": SEA_AND_ROOM[0]}, "expected the tensors"),
        ({"matrix": np.full((2, 2), np.nan, np.float32)}, "row 0: the vector of 'sea' holds NaN"),
        ({"more": np.ones(1)}, "expected the tensors"),
    ],
)
def test_a_file_of_our_own_is_checked_before_it_is_used(
    tmp_path: Path, changes: dict[str, np.ndarray], message: str
) -> None:
    sound: dict[str, np.ndarray] = {
        "matrix": SEA_AND_ROOM,
        "words": np.frombuffer(b"searoom", np.uint8),
        "offsets": np.array([0, 3, 7], np.int64),
    }
    path, about = tmp_path / "own.safetensors", {"format": "deltavec.word_vectors", "version": "1"}
    save_file(sound, path, about)
    assert_sea_and_room(load_vectors(path))
    save_file(sound | changes, path, about)
    with pytest.raises(VectorsError, match=message):
        load_vectors(path)


def test_a_newer_version_and_a_cut_file_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "own.safetensors"
    save_file({"matrix": SEA_AND_ROOM}, path, {"format": "deltavec.word_vectors", "version": "2"})
    with pytest.raises(VectorsError, match="expected version 1 of the format, got 2"):
        load_vectors(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(VectorsError, match=r"own.safetensors: expected a sound safetensors file"):
        load_vectors(path)


# gensim


def test_a_gensim_object_gives_its_vectors_and_shares_no_memory() -> None:
    keyed = KeyedVectors(2)
    keyed.add_vectors(["sea", "room"], SEA_AND_ROOM)
    vectors = load_vectors(keyed)
    keyed.vectors[:] = 7
    assert_sea_and_room(vectors)
    assert load_vectors(keyed, limit=1).words == ["sea"]


def test_a_gensim_model_gives_the_vectors_of_its_words() -> None:
    model = Word2Vec([["sea", "room"]] * 5, vector_size=4, min_count=1, workers=1, seed=1)
    vectors = load_vectors(model)
    assert vectors.words == model.wv.index_to_key
    unit = model.wv.get_normed_vectors()
    np.testing.assert_allclose(vectors.matrix, unit, atol=1e-7)  # gensim scales in float32


def test_other_objects_are_refused() -> None:
    with pytest.raises(VectorsError, match=r"expected a path or a gensim KeyedVectors, got dict"):
        load_vectors({"sea": [1.0, 2.0]})


def test_gensims_own_save_is_refused_with_advice(tmp_path: Path) -> None:
    keyed = KeyedVectors(2)
    keyed.add_vectors(["sea", "room"], SEA_AND_ROOM)
    keyed.save(str(tmp_path / "vectors.kv"))
    with pytest.raises(VectorsError, match=r"is a pickle .*KeyedVectors.load"):
        load_vectors(tmp_path / "vectors.kv")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("EN.1-10.cbow1_wind5_hs0_neg10_size300_smpl1e-05.txt", {}),
        ("crime-and-punishment.vec", {}),
        ("euclidean_vectors.bin", {"binary": True}),
        ("high_precision.kv.bin", {"binary": True}),
        ("high_precision.kv.txt", {}),
        ("lee_fasttext.vec", {}),
        ("poincare_vectors.bin", {"binary": True}),
        ("test_glove.txt", {"no_header": True}),
        ("toy-model.vec", {}),
        ("word2vec_pre_kv_c", {}),
    ],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # gensim's open file
def test_gensim_reads_the_same_from_its_own_files(name: str, options: dict[str, bool]) -> None:
    expected = KeyedVectors.load_word2vec_format(datapath(name), **options)
    vectors = load_vectors(datapath(name))
    assert vectors.words == expected.index_to_key
    rows = expected.vectors.astype(np.float64)
    # float32 keeps 24 bits of a number that is at most 1.
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors.matrix, unit, rtol=0, atol=2.0**-23)


def test_every_file_of_gensims_tests_gives_vectors_or_an_error_of_ours() -> None:
    folder = Path(gensim.__file__).parent / "test" / "test_data"
    outcomes = {"read": 0, "refused": 0}
    for path in sorted(folder.rglob("*")):
        try:
            vectors = load_vectors(path)
        except VectorsError:
            outcomes["refused"] += 1
        else:
            assert len(vectors) > 0
            outcomes["read"] += 1
    assert outcomes["read"] >= 13
    assert outcomes["refused"] >= 100


# Saving


def test_text_has_the_digits_that_bring_the_number_back(tmp_path: Path) -> None:
    save_vectors(WordVectors(["sea", "room"], SEA_AND_ROOM), tmp_path / "own.vec")
    assert (tmp_path / "own.vec").read_text() == "2 2\nsea 0.6 0.8\nroom 0 1\n"


@pytest.mark.parametrize(("name", "is_binary"), [("own.txt", False), ("own.bin", True)])
def test_gensim_reads_what_is_saved(tmp_path: Path, name: str, is_binary: bool) -> None:
    rows = np.random.default_rng(1).standard_normal((5000, 7))
    vectors = WordVectors([f"w{number}" for number in range(5000)], rows)
    save_vectors(vectors, tmp_path / name)
    keyed = KeyedVectors.load_word2vec_format(str(tmp_path / name), binary=is_binary)
    assert keyed.index_to_key == vectors.words
    assert keyed.vectors.tobytes() == vectors.matrix.tobytes()


@pytest.mark.parametrize("suffix", [".txt", ".vec", ".bin"])
@pytest.mark.parametrize("word", ["a b", "a\nb"])
def test_a_word_that_a_format_cannot_hold_is_refused(
    tmp_path: Path, suffix: str, word: str
) -> None:
    with pytest.raises(VectorsError, match=r"has a space or newline in it.*: write a .safetensors"):
        save_vectors(WordVectors([word], [[1.0]]), tmp_path / f"own{suffix}")
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_saved_is_refused(tmp_path: Path) -> None:
    vectors = WordVectors(["sea"], [[1.0]])
    with pytest.raises(VectorsError, match=r"ends in .safetensors, .txt, .vec, .bin, got 'own.pk"):
        save_vectors(vectors, tmp_path / "own.pkl")
    with pytest.raises(VectorsError, match="expected an existing folder"):
        save_vectors(vectors, tmp_path / "no" / "own.txt")
    with pytest.raises(VectorsError, match="one of the words is empty"):
        save_vectors(WordVectors([""], [[1.0]]), tmp_path / "own.safetensors")


def test_saving_over_a_file_that_is_mapped_keeps_both_whole(tmp_path: Path) -> None:
    path = tmp_path / "own.safetensors"
    save_vectors(WordVectors(["sea", "room"], SEA_AND_ROOM), path)
    old = load_vectors(path)
    save_vectors(WordVectors(["pool"], [[0.0, 1.0]]), path)
    assert_sea_and_room(old)
    assert load_vectors(path).words == ["pool"]
    assert [file.name for file in tmp_path.iterdir()] == ["own.safetensors"]


def test_saving_through_a_link_keeps_the_link(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    link = tmp_path / "own.vec"
    link.symlink_to(tmp_path / "far" / "real.vec")
    save_vectors(WordVectors(["sea", "room"], SEA_AND_ROOM), link)
    assert link.is_symlink()
    assert_sea_and_room(load_vectors(tmp_path / "far" / "real.vec"))


@pytest.mark.parametrize("suffix", [".safetensors", ".vec", ".bin"])
def test_files_can_be_read_by_whom_the_system_lets(tmp_path, suffix):
    (tmp_path / "usual").touch()
    save_vectors(WordVectors(["a"], [[1.0]]), tmp_path / f"vectors{suffix}")
    assert (tmp_path / f"vectors{suffix}").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_the_same_vectors_are_the_same_bytes_in_every_process(tmp_path: Path) -> None:
    program = (
        "import sys, numpy as np, deltavec as dv\n"
        "dv.save_vectors(dv.WordVectors(['sea', 'room'], np.eye(2)), sys.argv[1])\n"
    )
    contents = set()
    for number in range(4):
        path = tmp_path / f"{number}.safetensors"
        subprocess.run([sys.executable, "-c", program, str(path)], check=True)
        contents.add(path.read_bytes())
    assert len(contents) == 1
    assert load_vectors(tmp_path / "0.safetensors").words == ["sea", "room"]
