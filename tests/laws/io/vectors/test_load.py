"""What must hold for any words, any matrix and any bytes."""

from __future__ import annotations

import tempfile
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deltavec.core.vectors import WordVectors
from deltavec.errors import VectorsError
from deltavec.io.vectors.load import load_vectors, save_vectors
from deltavec.io.vectors.rows import WordRows, join_rows
from deltavec.io.vectors.word2vec import careful_rows, fast_rows, parse_lines
from support.strategies import BROKEN, texts, vectors_for

ANY_WORDS = texts(max_size=6).filter(bool)
WRITABLE_WORDS = ANY_WORDS.filter(lambda word: " " not in word and "\n" not in word)
SUFFIXES = [".safetensors", ".txt", ".vec", ".bin"]


@st.composite
def word_vectors(draw: st.DrawFn, words: st.SearchStrategy[str] = WRITABLE_WORDS) -> WordVectors:
    chosen = draw(st.lists(words, min_size=1, max_size=12, unique=True))
    return WordVectors(chosen, draw(vectors_for(chosen)))


@st.composite
def numbers(draw: st.DrawFn) -> str:
    value = draw(st.floats(-(2.0**100), 2.0**100, width=32))
    style = draw(st.sampled_from(["{!r}", "{:.5f}", "{:g}", "{:e}", "{:+.9g}", "{:.0f}", "\t{}"]))
    return style.format(value)


@st.composite
def plain_lines(draw: st.DrawFn, odd: bool = False) -> bytes:
    """Lines of three numbers; odd ones have words with spaces, or more space than is needed."""
    word = st.one_of(WRITABLE_WORDS.map(str.encode), st.sampled_from([*BROKEN, b"", b"a"]))
    spaced = st.sampled_from([b". . .", b"at name@domain.com", b"apollo 11", b" a", b"a "])
    gap = st.sampled_from(["  ", "\t", " \t"] if odd else [" "])
    lines = []
    for _ in range(draw(st.integers(1, 8))):
        fields = [draw(numbers()) for _ in range(3)]
        start = draw(st.one_of(word.filter(bool), spaced) if odd else word)
        tail = draw(gap).join(fields).encode()
        lines.append(start + b" " + tail + draw(st.sampled_from([b"", b" "])))
    end = draw(st.sampled_from([b"\n", b"\r\n"]))
    return end.join(lines) + end


def written(content: bytes, folder: str, name: str = "vectors") -> Path:
    path = Path(folder) / name
    path.write_bytes(content)
    return path


def packed_with(codec: str, content: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, codec) as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def assert_same(left: WordVectors, right: WordVectors) -> None:
    assert left.words == right.words
    assert left.matrix.tobytes() == right.matrix.tobytes()


def assert_same_rows(left: WordRows, right: WordRows) -> None:
    assert left.words.to_pylist() == right.words.to_pylist()
    assert left.matrix.tobytes() == right.matrix.tobytes()
    assert left.dropped == right.dropped


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(vectors=word_vectors())
def test_what_is_saved_comes_back_to_the_bit(suffix: str, vectors: WordVectors) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"vectors{suffix}"
        save_vectors(vectors, path)
        loaded = load_vectors(path)
        assert_same(loaded, vectors)
        assert not loaded.dropped


@given(vectors=word_vectors(ANY_WORDS))
def test_safetensors_holds_any_word(vectors: WordVectors) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.safetensors"
        save_vectors(vectors, path)
        assert_same(load_vectors(path), vectors)


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
@pytest.mark.parametrize("suffix", [".txt", ".bin"])
@given(vectors=word_vectors())
def test_compression_changes_nothing(suffix: str, codec: str, vectors: WordVectors) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"vectors{suffix}"
        save_vectors(vectors, path)
        path.write_bytes(packed_with(codec, path.read_bytes()))
        assert_same(load_vectors(path), vectors)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(vectors=word_vectors(), limit=st.integers(1, 15))
def test_a_limit_reads_the_first_rows(suffix: str, vectors: WordVectors, limit: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"vectors{suffix}"
        save_vectors(vectors, path)
        loaded = load_vectors(path, limit=limit)
        assert loaded.words == vectors.words[:limit]
        assert loaded.matrix.tobytes() == vectors.matrix[:limit].tobytes()


@given(data=plain_lines())
def test_the_fast_path_and_the_careful_path_agree_to_the_bit(data: bytes) -> None:
    fast = fast_rows(data, 1, 3, "vectors")
    assume(fast is not None)
    assert fast is not None
    assert_same_rows(fast, careful_rows(data, 1, 3, "vectors"))


@given(data=plain_lines(odd=True))
def test_odd_lines_are_read_whatever_stands_around_them(data: bytes) -> None:
    together = parse_lines((data, 1), 3, "vectors")
    alone = [
        parse_lines((line + b"\n", 1), 3, "vectors")
        for line in data.removesuffix(b"\n").split(b"\n")
    ]
    assert together.words.to_pylist() == [word for rows in alone for word in rows.words.to_pylist()]
    assert together.matrix.tobytes() == b"".join(rows.matrix.tobytes() for rows in alone)
    assert Counter(together.dropped) == sum((Counter(rows.dropped) for rows in alone), Counter())


@given(data=plain_lines(), cuts=st.sets(st.integers(1, 7)))
def test_any_blocking_gives_the_same_vectors(data: bytes, cuts: set[int]) -> None:
    lines = [line + b"\n" for line in data.removesuffix(b"\n").split(b"\n")]
    borders = [0, *sorted(cut for cut in cuts if cut < len(lines)), len(lines)]
    blocks = [
        parse_lines((b"".join(lines[begin:end]), begin + 1), 3, "vectors")
        for begin, end in pairwise(borders)
    ]
    whole = [parse_lines((data, 1), 3, "vectors")]
    assume(len(whole[0].words))
    split, at_once = join_rows(blocks, "vectors"), join_rows(whole, "vectors")
    assert_same(split, at_once)
    assert split.dropped == at_once.dropped


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(vectors=word_vectors(), data=st.data())
def test_a_file_cut_anywhere_is_an_error_or_lacks_only_digits(
    suffix: str, vectors: WordVectors, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"vectors{suffix}"
        save_vectors(vectors, path)
        content = path.read_bytes()
        path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
        try:
            loaded = load_vectors(path)
        except VectorsError:
            return
        # Nobody can tell that the last number of a text was longer, or a line end is missing.
        assert suffix != ".safetensors"
        found = len(loaded) + sum(loaded.dropped.values())
        assert found == len(vectors)
        if suffix == ".bin":
            assert_same(loaded, vectors)


@st.composite
def damaged_files(draw: st.DrawFn) -> tuple[str, bytes]:
    """A sound file of some format with some bytes changed, put in or left out."""
    vectors = draw(word_vectors())
    suffix = draw(st.sampled_from(SUFFIXES))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"vectors{suffix}"
        save_vectors(vectors, path)
        content = bytearray(path.read_bytes())
    for _ in range(draw(st.integers(1, 4))):
        # Headers are short, and more goes wrong there than in the numbers.
        begin = draw(st.one_of(st.integers(0, len(content)), st.integers(0, 120)))
        end = begin + draw(st.integers(0, 3))
        content[begin:end] = draw(st.binary(max_size=4))
    return suffix, bytes(content)


@given(file=st.one_of(damaged_files(), st.binary(max_size=200).map(lambda data: ("", data))))
def test_any_bytes_give_sound_vectors_or_an_error_of_ours(file: tuple[str, bytes]) -> None:
    suffix, content = file
    with tempfile.TemporaryDirectory() as folder:
        path = written(content, folder, f"vectors{suffix}")
        try:
            loaded = load_vectors(path)
        except VectorsError:
            return
        lengths = np.linalg.norm(loaded.matrix.astype(np.float64), axis=1)
        assert len(set(loaded.words)) == len(loaded) > 0
        # 2**-22: what still counts as unit length; see UNIT_TOLERANCE.
        np.testing.assert_allclose(lengths, 1.0, rtol=0, atol=2.0**-22)
