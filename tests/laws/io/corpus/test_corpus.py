"""What holds for every corpus: what was written is read, however it is cut into blocks."""

import csv
import gzip
import io
import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import byte_chunks, checked_blocks, last_end, whole_records
from deltavec.io.corpus.columns import Piece, bounded
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.corpus.files import CorpusFile
from deltavec.io.corpus.readers import BATCHES

BYTE_ORDER_MARK = "\ufeff"  # at the very start of a file it is no part of the text

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
tricky = st.text('a"",\t\n\r \\é\0', max_size=12)
any_text = st.one_of(texts, tricky)
one_line = any_text.filter(lambda text: "\n" not in text and not text.endswith("\r"))


def documents(corpus):
    return [document for chunk in corpus for document in chunk.to_pylist()]


def delimited(rows, delimiter, quoting, line_end):
    target = io.StringIO(newline="")
    writer = csv.writer(target, delimiter=delimiter, quoting=quoting, lineterminator=line_end)
    writer.writerows([["id", "text"], *([str(i), text] for i, text in enumerate(rows))])
    return target.getvalue().encode()


def compressed(data, suffix):
    if suffix == ".gz":
        return gzip.compress(data, 1)
    return pa.compress(data, codec="zstd", asbytes=True) if suffix == ".zst" else data


def read_back(name, data, **reading):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(compressed(data, path.suffix))
        corpus = read_corpus(path, **reading)
        first = documents(corpus)
        assert first == documents(corpus)
        return first


suffixes = st.sampled_from(["", ".gz", ".zst"])


@given(st.lists(one_line), suffixes, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_lines_that_were_written_are_read(rows, suffix, line_end, mark):
    start = BYTE_ORDER_MARK if mark or (rows and rows[0].startswith(BYTE_ORDER_MARK)) else ""
    data = start + "".join(text + line_end for text in rows)
    assert read_back("a.txt" + suffix, data.encode()) == rows


@given(
    st.lists(any_text),
    suffixes,
    st.sampled_from([("a.csv", ","), ("a.tsv", "\t")]),
    # where rows end with \n alone, Python's writer leaves a \r without the quotes it needs
    st.sampled_from([(csv.QUOTE_ALL, "\n"), (csv.QUOTE_MINIMAL, "\r\n")]),
)
def test_rows_that_were_written_are_read(rows, suffix, kind, style):
    (name, delimiter), (quoting, line_end) = kind, style
    data = delimited(rows, delimiter, quoting, line_end)
    assert read_back(name + suffix, data) == rows


@given(st.lists(any_text), suffixes, st.booleans())
def test_json_lines_that_were_written_are_read(rows, suffix, ascii_only):
    lines = [json.dumps({"text": text}, ensure_ascii=ascii_only) + "\n" for text in rows]
    assert read_back("a.jsonl" + suffix, "".join(lines).encode()) == rows


@given(st.lists(any_text), st.sampled_from(["zstd", "gzip", "none"]), st.integers(1, 5))
def test_parquet_that_was_written_is_read(rows, codec, group):
    target = io.BytesIO()
    table = pa.table({"text": pa.array(rows, pa.string())})
    pq.write_table(table, target, compression=codec, row_group_size=group)
    assert read_back("a.parquet", target.getvalue()) == rows


@given(st.binary(max_size=60), suffixes)
def test_any_bytes_are_text_with_each_broken_sequence_replaced(data, suffix):
    line = b"first\n" + data  # no mark of another encoding at the start
    expected = line.decode("utf-8", "replace").replace("\r\n", "\n")
    expected = expected.removesuffix("\n").removesuffix("\r").split("\n")
    assert read_back("a.txt" + suffix, line, encoding="utf-8") == expected


@given(st.binary(max_size=60), suffixes)
def test_bytes_that_are_not_utf8_are_an_error_unless_an_encoding_is_given(data, suffix):
    line = b"first\n" + data
    try:
        line.decode()
    except UnicodeDecodeError as error:
        place = line.count(b"\n", 0, error.start) + 1
        with pytest.raises(CorpusError, match=rf"a\.txt.*, line {place}: not UTF-8.*--encoding"):
            read_back("a.txt" + suffix, line)


# Written with a mark, an encoding says itself; the others are named.
marked = {"utf-8-sig": "", "utf-16": "", "utf-32": "", "utf-8": "", "utf-16-be": "\ufeff"}
named = ["cp1252", "latin-1", "cp1251", "gb18030", "utf-16-le", "utf-8"]


@settings(max_examples=25)  # each writes and reads a file
@given(st.data(), suffixes, st.sampled_from([",", ";", "\t", "|"]), st.sampled_from(["csv", "tsv"]))
def test_a_table_reads_back_in_any_encoding_with_any_delimiter(data, suffix, delimiter, form):
    encoding = data.draw(st.sampled_from([*marked, *named]))
    letters = st.characters(codec=encoding if encoding in named else "utf-8")
    cells = st.text(letters, max_size=12) | st.text('a"";,|\t\n\r ', max_size=8)
    rows = data.draw(st.lists(cells, max_size=6))
    table = delimited(rows, delimiter, csv.QUOTE_ALL, "\r\n").decode()
    start = marked.get(encoding, "")
    reading = {} if encoding in marked else {"encoding": encoding}
    written = (start + table).encode(encoding)
    assert read_back(f"a.{form}{suffix}", written, **reading) == rows
    assert read_back(f"a.{form}{suffix}", written, delimiter=delimiter, **reading) == rows


@given(st.data(), suffixes)
def test_lines_and_json_lines_read_back_in_any_encoding(data, suffix):
    encoding = data.draw(st.sampled_from([*marked, *named]))
    letters = st.characters(codec=encoding if encoding in named else "utf-8")
    one = st.text(letters, max_size=12).filter(lambda text: not {"\n", "\r", "\ufeff"} & {*text})
    rows = data.draw(st.lists(one, max_size=6))
    start = marked.get(encoding, "")
    reading = {} if encoding in marked else {"encoding": encoding}
    lines = "".join(text + "\n" for text in ["first", *rows])
    written = (start + lines).encode(encoding)
    assert read_back("a.txt" + suffix, written, **reading) == ["first", *rows]
    lines = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in rows)
    assert read_back("a.jsonl" + suffix, (start + lines).encode(encoding), **reading) == rows


def parsed(form, data, block_bytes):
    """The documents of some bytes read in blocks of a given size, or the error's type."""
    chunks = byte_chunks(io.BytesIO(data), "a", block_bytes)
    blocks = whole_records(chunks, "a", "," if form == "csv" else None)
    repaired = checked_blocks(blocks, "a", "utf-8")
    try:
        batches = list(BATCHES[form](repaired, CorpusFile(Path("a"), form), ["text"]))
    except CorpusError as error:
        return str(error)
    return [document for batch in batches for document in batch.column(0).to_pylist()]


messy = st.lists(
    st.sampled_from([b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"a", b"\xff", "é".encode()])
)


@given(messy.map(b"".join), st.integers(1, 9))
def test_any_block_size_gives_the_same_rows_of_any_csv_however_messy(data, block_bytes):
    data = b"id,text\n" + data
    assert parsed("csv", data, block_bytes) == parsed("csv", data, 1 << 20)


@given(messy.map(b"".join), st.integers(1, 9))
def test_any_block_size_gives_the_same_lines(data, block_bytes):
    data = b"x" + data
    assert parsed("txt", data, block_bytes) == parsed("txt", data, 1 << 20)


@given(st.lists(any_text, min_size=1), st.integers(1, 40))
def test_any_block_size_gives_the_same_json_lines(rows, block_bytes):
    data = "\n".join(json.dumps({"text": text}) for text in rows).encode()
    assert parsed("jsonl", data, block_bytes) == rows


@given(messy.map(b"".join), st.integers(1, 9))
def test_blocks_hold_every_byte_and_end_where_rows_do(data, block_bytes):
    chunks = byte_chunks(io.BytesIO(data), "a", block_bytes)
    if last_end(data + b"\n", ",") <= len(data):
        with pytest.raises(CorpusError, match="ends inside a quoted field"):
            list(whole_records(chunks, "a", ","))
        return
    blocks = list(whole_records(chunks, "a", ","))
    assert b"".join(blocks) == data
    assert all(last_end(block, ",") == len(block) for block in blocks[:-1])


@given(st.lists(st.lists(st.none() | any_text)), st.integers(1, 20), st.integers(1, 5))
def test_any_batching_gives_the_same_documents_within_the_bounds(rows, size, count):
    pieces = [
        Piece(pa.record_batch({"text": pa.array(batch, pa.large_string())}), (i + 1) / len(rows))
        for i, batch in enumerate(rows)
    ]
    chunks = list(bounded(iter(pieces), size, count))
    found = [chunk.batch.column(0) for chunk in chunks]
    assert [d for chunk in found for d in chunk.to_pylist()] == [d for batch in rows for d in batch]
    assert all(chunk.type == pa.string() and 1 <= len(chunk) <= count for chunk in found)
    for chunk in found:
        bytes_of_text = sum(len((document or "").encode()) for document in chunk.to_pylist())
        assert bytes_of_text <= size or len(chunk.drop_null()) == 1
    shares = [chunk.consumed for chunk in chunks]
    assert shares == sorted(shares)
