import io
import json

import pytest

from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import as_utf8, byte_chunks, checked_encoding
from deltavec.io.corpus.corpus import read_corpus

TEXTS = ["Schönes Zimmer", "österreichisches Frühstück, naïve", "für 5 €"]


def documents(corpus):
    return [document for chunk in corpus for document in chunk.to_pylist()]


def written(path, text, encoding):
    path.write_bytes(text.encode(encoding))
    return path


def table(rows=TEXTS):
    return "id,text\r\n" + "".join(f'{i},"{text}"\r\n' for i, text in enumerate(rows))


def lines(rows=TEXTS):
    return "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in rows)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize(("name", "content"), [("a.csv", table()), ("a.jsonl", lines())])
def test_a_mark_says_the_encoding(tmp_path, encoding, name, content):
    path = written(tmp_path / name, content, encoding)
    assert documents(read_corpus(path)) == TEXTS


def test_big_endian_text_is_known_by_its_mark(tmp_path):
    path = written(tmp_path / "a.txt", "\ufeff" + "\n".join(TEXTS), "utf-16-be")
    assert documents(read_corpus(path)) == TEXTS


@pytest.mark.parametrize("encoding", ["cp1252", "CP1252", "windows-1252", "cp858"])
def test_an_encoding_that_is_named_is_used(tmp_path, encoding):
    path = written(tmp_path / "a.csv", table(), encoding)
    assert documents(read_corpus(path, encoding=encoding)) == TEXTS


def test_a_mark_counts_more_than_the_name_that_is_given(tmp_path):
    """So that a folder of old and new files can be read with one option."""
    written(tmp_path / "a.csv", table(TEXTS[:1]), "cp1252")
    written(tmp_path / "b.csv", table(TEXTS[1:2]), "utf-16")
    written(tmp_path / "c.csv", table(TEXTS[2:]), "utf-8-sig")
    assert documents(read_corpus(tmp_path, encoding="cp1252")) == TEXTS


def test_latin_1_without_a_name_is_an_error_that_shows_how_it_would_read(tmp_path):
    path = written(tmp_path / "a.csv", table(), "cp1252")
    with pytest.raises(CorpusError) as raised:
        read_corpus(path)
    message = str(raised.value)
    assert "a.csv, line 2: not UTF-8 (the byte 0xf6)" in message
    assert "Schönes Zimmer" in message
    assert "--encoding cp1252" in message
    assert "encoding='cp1252'" in message


def test_latin_1_far_down_is_an_error_with_its_line(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"a quiet room by the sea\n" * 300_000 + "schön\n".encode("latin-1"))
    corpus = read_corpus(path)
    with pytest.raises(CorpusError, match=r"a\.txt, line 300001: not UTF-8"):
        documents(corpus)


def test_utf8_with_some_broken_bytes_is_called_damaged_and_may_be_read_so(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("schön und schöner\n".encode() + b"caf\xe9\n")
    with pytest.raises(CorpusError, match=r"line 2: not UTF-8.*damaged.*--encoding utf-8"):
        read_corpus(path)
    assert documents(read_corpus(path, encoding="utf-8")) == ["schön und schöner", "caf\ufffd"]


@pytest.mark.parametrize("order", ["le", "be"])
def test_utf16_without_a_mark_is_recognized(tmp_path, order):
    path = written(tmp_path / "a.csv", table(), f"utf-16-{order}")
    with pytest.raises(CorpusError, match=rf"without a byte order mark.*--encoding utf-16-{order}"):
        read_corpus(path)
    assert documents(read_corpus(path, encoding=f"utf-16-{order}")) == TEXTS


def test_utf16_that_is_cut_inside_a_character_is_an_error_unless_it_is_named(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("one\ntwo".encode("utf-16")[:-1])
    with pytest.raises(CorpusError, match="mark of utf-16-le, but is damaged or cut short"):
        documents(read_corpus(path))
    assert documents(read_corpus(path, encoding="utf-16")) == ["one", "tw\ufffd"]


@pytest.mark.parametrize("name", ["utf-9", "latin9x", "hex", "rot13", "", "a\0b", "\ud800"])
def test_a_name_of_no_text_encoding_is_an_error(name):
    with pytest.raises(CorpusError, match="encoding must be a name that Python knows"):
        checked_encoding(name)


def test_a_name_that_is_nearly_one_brings_a_suggestion():
    with pytest.raises(CorpusError, match="did you mean 'cp1252'"):
        checked_encoding("cp12552")


@pytest.mark.parametrize("size", [257, 258, 259, 261, 1000])
def test_characters_cut_by_a_read_are_put_together(size):
    data = "\ufeff" + "𝄞äß" * 300
    chunks = byte_chunks(io.BytesIO(data.encode("utf-16-le")), "a", size)
    assert b"".join(as_utf8(chunks, "a", None)).decode() == data[1:]


def test_an_encoding_for_what_is_no_text_file_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="encoding is for files"):
        read_corpus(["a"], encoding="utf-8")
