import bz2
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from deltavec.core.text.batches import as_corpus, as_text_batch
from deltavec.errors import CorpusError, DeltavecError
from deltavec.io.corpus.blocks import byte_chunks, last_end, whole_records
from deltavec.io.corpus.columns import CHUNK_BYTES, CHUNK_DOCUMENTS
from deltavec.io.corpus.corpus import read_corpus

TEXTS = ["a quiet room", "", "Zimmer mit Aussicht", "naïve café, 日本"]


def documents(corpus):
    return [document for chunk in corpus for document in chunk.to_pylist()]


def written(path, data):
    """The path, once the bytes (or the text) are in it, compressed as its suffix says."""
    data = data.encode() if isinstance(data, str) else data
    if path.suffix == ".gz":
        data = gzip.compress(data)
    elif path.suffix == ".zst":
        data = pa.compress(data, codec="zstd", asbytes=True)
    path.write_bytes(data)
    return path


def parquet(path, **columns):
    path.parent.mkdir(exist_ok=True)
    pq.write_table(pa.table(columns), path)
    return path


def csv_text(rows):
    target = io.BytesIO()
    pyarrow.csv.write_csv(pa.table({"id": list(range(len(rows))), "text": rows}), target)
    return target.getvalue()


# what can be read


def test_a_text_file_is_one_document_per_line_and_an_empty_line_is_an_empty_document(tmp_path):
    path = written(tmp_path / "rooms.txt", "one\n\nthree\r\nfour")
    assert documents(read_corpus(path)) == ["one", "", "three", "four"]


def test_the_last_newline_adds_no_document(tmp_path):
    assert documents(read_corpus(written(tmp_path / "a.txt", "one\ntwo\n"))) == ["one", "two"]
    assert documents(read_corpus(written(tmp_path / "b.txt", "one\n\n"))) == ["one", ""]


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_every_text_format_reads_plain_and_compressed(tmp_path, suffix):
    lines = "\n".join(json.dumps({"id": i, "text": t}) for i, t in enumerate(TEXTS))
    contents = {
        "a.txt": "\n".join(TEXTS),
        "a.csv": csv_text(TEXTS),
        "a.tsv": "id\ttext\n" + "\n".join(f"{i}\t{text}" for i, text in enumerate(TEXTS)),
        "a.jsonl": lines,
        "a.ndjson": lines,
    }
    for name, content in contents.items():
        path = written(tmp_path / (name + suffix), content)
        assert documents(read_corpus(path)) == TEXTS, name


def test_several_compressed_files_in_one_are_read_to_the_end(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"one\ntw") + gzip.compress(b"o\nthree\n"))
    assert documents(read_corpus(path)) == ["one", "two", "three"]


def test_a_parquet_file_says_how_many_documents_it_has(tmp_path):
    corpus = read_corpus(parquet(tmp_path / "a.parquet", id=[1, 2, 3, 4], text=TEXTS))
    assert documents(corpus) == TEXTS
    assert corpus.documents == 4
    assert corpus.columns == ["id", "text"]


@pytest.mark.parametrize(
    "kind",
    [
        pa.large_string(),
        pa.string_view(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int32(), pa.large_string()),
    ],
    ids=str,
)
def test_every_arrow_type_of_text_reads_as_strings(tmp_path, kind):
    column = pa.array([*TEXTS, None]).cast(kind)
    (chunk,) = read_corpus(pa.table({"text": column}))
    assert chunk.type == pa.string()
    assert chunk.to_pylist() == [*TEXTS, ""]
    assert documents(read_corpus(column)) == [*TEXTS, ""]
    if not pa.types.is_string_view(kind):
        assert documents(read_corpus(parquet(tmp_path / "a.parquet", text=column))) == [*TEXTS, ""]


def test_columns_and_frames_in_memory_are_corpora():
    frames = {
        "pandas": pd.DataFrame({"id": range(4), "text": TEXTS}),
        "objects": pd.DataFrame({"text": pd.Series(TEXTS, dtype=object), "id": [1, "x", 2, 3]}),
        "polars": pl.DataFrame({"id": range(4), "text": TEXTS}),
        "table": pa.table({"id": range(4), "text": TEXTS}),
        "batch": pa.record_batch({"id": range(4), "text": TEXTS}),
        "pandas series": pd.Series(TEXTS),
        "categories": pd.Series(TEXTS, dtype="category"),
        "polars series": pl.Series(TEXTS),
        "array": pa.array(TEXTS),
        "chunked": pa.chunked_array([TEXTS[:1], TEXTS[1:]]),
        "list": TEXTS,
        "tuple": tuple(TEXTS),
    }
    for name, source in frames.items():
        corpus = read_corpus(source)
        assert documents(corpus) == TEXTS, name
        assert documents(corpus) == TEXTS, name
        assert corpus.documents == len(TEXTS), name
        assert not corpus.one_shot, name


def test_missing_values_are_empty_documents(tmp_path):
    assert documents(read_corpus(pd.Series(["a", None]))) == ["a", ""]
    assert documents(read_corpus(pd.Series(["a", float("nan")], dtype=object))) == ["a", ""]
    assert documents(read_corpus(pl.Series([None, "b"]))) == ["", "b"]
    assert documents(read_corpus(["a", None])) == ["a", ""]
    assert documents(read_corpus(pa.nulls(2))) == ["", ""]
    path = parquet(tmp_path / "a.parquet", text=pa.array(["a", None]))
    assert documents(read_corpus(path)) == ["a", ""]


def test_a_slice_of_an_arrow_array_is_only_that_slice():
    assert documents(read_corpus(pa.array(["a", "b", "c"]).slice(1, 1))) == ["b"]


def test_a_corpus_is_a_corpus_already():
    corpus = read_corpus(TEXTS)
    assert read_corpus(corpus) is corpus
    assert repr(corpus) == "Corpus('list', column='text')"


def test_a_folder_is_read_in_the_order_of_names_and_hidden_files_are_passed_over(tmp_path):
    for name in ("b.txt", "a/z.txt", ".hidden.txt", ".cache/c.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    (tmp_path / "README.md").write_text("no document")
    parquet(tmp_path / "c.PARQUET", text=["in capitals"])
    corpus = read_corpus(tmp_path)
    assert documents(corpus) == ["a/z.txt", "b.txt", "in capitals"]
    assert corpus.name == f"{tmp_path} (3 files)"


def test_names_that_begin_with_an_underscore_are_left_out_as_spark_and_hive_do(tmp_path):
    written(tmp_path / "part-0.csv", "text\none")
    (tmp_path / "_temporary" / "0").mkdir(parents=True)
    written(tmp_path / "_temporary" / "0" / "part-0.csv", "text\nhalf")
    written(tmp_path / "_SUCCESS", "")
    written(tmp_path / "_part.csv", "text\nhalf")
    for source in (tmp_path, tmp_path / "**" / "*.csv"):
        assert documents(read_corpus(source)) == ["one"]
    assert documents(read_corpus(tmp_path / "_part.csv")) == ["half"]
    assert documents(read_corpus(tmp_path / "_*.csv")) == ["half"]


def test_the_folders_of_a_partitioned_table_are_columns(tmp_path):
    rows = {
        "text": ["one", "two", "three"],
        "year": [2023, 2024, 2024],
        "place": ["a b", "c", None],
    }
    pq.write_to_dataset(pa.table(rows), tmp_path / "t", partition_cols=["year", "place"])
    corpus = read_corpus(tmp_path / "t")
    assert corpus.columns == ["text", "year", "place"]
    assert corpus.schema(["place"]).types == [pa.string(), pa.string()]
    found = pa.Table.from_batches(corpus.batches(["place", "year"])).sort_by("text").to_pydict()
    assert found == {
        "text": ["one", "three", "two"], "place": ["a b", None, "c"],
        "year": ["2023", "2024", "2024"],
    }  # fmt: skip


def test_partitions_of_text_files_get_types_and_do_not_hide_columns_of_the_files(tmp_path):
    for year in ("2023", "2024"):
        (tmp_path / f"year={year}" / "id=0").mkdir(parents=True)
        written(tmp_path / f"year={year}" / "id=0" / "a.csv", f"id,review\n{year}7,in {year}\n")
    corpus = read_corpus(tmp_path, column="review").typed(["year", "id"])
    table = pa.Table.from_batches(corpus.batches(["year", "id"])).to_pydict()
    assert table == {
        "review": ["in 2023", "in 2024"], "year": [2023, 2024], "id": [20237, 20247],
    }  # fmt: skip
    alone = read_corpus(tmp_path / "year=2023" / "id=0" / "a.csv", column="review")
    assert alone.columns == ["id", "review"]


@pytest.mark.parametrize(
    ("mark", "table"),
    [
        ("_delta_log/00000000000000000000.json", "a Delta table"),
        ("metadata/v1.metadata.json", "an Iceberg table"),
        (".hoodie/hoodie.properties", "a Hudi table"),
    ],
)
def test_a_table_whose_files_hold_deleted_rows_is_refused(tmp_path, mark, table):
    parquet(tmp_path / "lake" / "a.parquet", text=["one"])
    (tmp_path / "lake" / mark).parent.mkdir()
    written(tmp_path / "lake" / mark, "{}")
    for source in (tmp_path / "lake", tmp_path):
        with pytest.raises(DeltavecError, match=f"lake is {table}"):  # damaged, or needs a package
            read_corpus(source)


def test_a_pattern_reads_the_files_it_matches(tmp_path):
    for name in ("a1.txt", "a2.txt.gz", "b.txt"):
        written(tmp_path / name, name)
    assert documents(read_corpus(str(tmp_path / "a*"))) == ["a1.txt", "a2.txt.gz"]


def test_a_file_whose_name_looks_like_a_pattern_is_read_as_itself(tmp_path):
    path = written(tmp_path / "a[1].txt", "brackets")
    assert documents(read_corpus(str(path))) == ["brackets"]


def test_a_list_of_paths_is_read_in_the_order_given(tmp_path):
    paths = [written(tmp_path / name, name) for name in ("b.txt", "a.txt")]
    assert documents(read_corpus(paths)) == ["b.txt", "a.txt"]


def test_a_format_given_counts_more_than_a_suffix(tmp_path):
    path = written(tmp_path / "a.log", "text\nhello")
    assert documents(read_corpus(path, format="csv")) == ["hello"]


def test_standard_input_is_text_unless_the_format_says_otherwise():
    script = (
        "import sys; from deltavec.io.corpus.corpus import read_corpus\n"
        "corpus = read_corpus('-', format=sys.argv[1] if sys.argv[1:] else None)\n"
        "assert corpus.one_shot\n"
        "assert corpus.columns\n"
        "assert [d for chunk in corpus for d in chunk.to_pylist()] == ['one', 'two']\n"
    )
    for arguments, data in (([], b"one\ntwo\n"), (["csv"], b"id,text\n1,one\n2,two\n")):
        subprocess.run([sys.executable, "-c", script, *arguments], input=data, check=True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_named_pipe_is_read_once_like_standard_input(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[b"one\ntwo"])
    writer.start()
    corpus = read_corpus(path)
    assert documents(corpus) == ["one", "two"]
    writer.join()
    with pytest.raises(CorpusError, match="only once"):
        documents(corpus)


# csv and jsonl


def test_csv_values_stay_text_whatever_they_look_like(tmp_path):
    values = ["123", "NA", "null", "", "1e5", "true", "2020-01-01"]
    path = written(tmp_path / "a.csv", "id,text\n" + "".join(f"1,{v}\n" for v in values))
    assert documents(read_corpus(path)) == values


def test_csv_fields_may_hold_newlines_quotes_and_delimiters(tmp_path):
    path = written(tmp_path / "a.csv", 'text,id\r\n"a, ""b""\n\r\nc",1\r\n5" wide,2\r\n\r\n"",3')
    assert documents(read_corpus(path)) == ['a, "b"\n\r\nc', '5" wide', ""]


def test_a_byte_order_mark_at_the_start_of_a_document_is_text_in_every_row(tmp_path):
    path = written(tmp_path / "a.csv", "text,x\n\ufeffsea,1\n\ufeffroom,2\n")
    assert documents(read_corpus(path)) == ["\ufeffsea", "\ufeffroom"]


def test_a_ragged_csv_row_is_named_by_file_and_row(tmp_path):
    path = written(tmp_path / "a.csv", 'id,text\n1,"two\nlines"\n2,b,c\n')
    with pytest.raises(
        CorpusError, match=r"a\.csv, row 3 .*expected 2 fields, found 3, in '2,b,c'"
    ):
        documents(read_corpus(path))


def test_a_quote_that_never_closes_is_an_error_with_its_row(tmp_path):
    path = written(tmp_path / "a.csv", 'id,text\n1,a\n2,"b\n3,c\n')
    with pytest.raises(CorpusError, match=r"ends inside a quoted field.*begins '2,"):
        documents(read_corpus(path))


def test_a_csv_file_with_only_a_header_has_no_documents(tmp_path):
    assert list(read_corpus(written(tmp_path / "a.csv", "id,text\n"))) == []
    assert list(read_corpus(written(tmp_path / "b.csv", "id,text"))) == []


def test_two_columns_of_the_same_name_are_an_error_only_if_they_are_asked_for(tmp_path):
    path = written(tmp_path / "a.csv", "id,id,text\n1,2,a\n")
    assert documents(read_corpus(path)) == ["a"]
    with pytest.raises(CorpusError, match="2 columns are called 'id'"):
        read_corpus(path, column="id")


def test_a_broken_json_line_is_named_by_file_and_line(tmp_path):
    for bad in ('{"text": "a"', "null", '["a"]', '{"text": 1}', "[" * 100_000):
        path = written(tmp_path / "a.jsonl", '{"text": "a"}\n\n{"text": "b"}\n' + bad)
        with pytest.raises(CorpusError, match=r"a\.jsonl, line 4: "):
            documents(read_corpus(path))


def test_a_json_line_is_found_broken_however_far_down_it_is(tmp_path):
    good = json.dumps({"text": "word " * 200})
    path = written(tmp_path / "a.jsonl", f"{good}\n" * 10_000 + "broken")
    corpus = read_corpus(path)
    with pytest.raises(CorpusError, match="line 10001: "):
        documents(corpus)


def test_a_json_line_without_the_key_is_an_empty_document_if_other_lines_have_it(tmp_path):
    path = written(tmp_path / "a.jsonl", '{"x": 1}\n{"text": "b"}\n{"text": null}\n')
    assert documents(read_corpus(path)) == ["", "b", ""]
    with pytest.raises(CorpusError, match="no column 'texts'; its columns are 'x', 'text'"):
        read_corpus(path, column="texts")


def test_half_a_surrogate_pair_becomes_a_replacement_character(tmp_path):
    path = written(tmp_path / "a.jsonl", r'{"text": "a\ud83db"}')
    assert documents(read_corpus(path)) == ["a\ufffdb"]
    assert documents(read_corpus(["a\ud83db", None])) == ["a\ufffdb", ""]


def test_half_a_surrogate_pair_is_mended_in_names_in_other_columns_and_in_errors(tmp_path):
    line = r'{"te\ud800xt": "a", "k": "b\udc00", "o": {"\ud800": ["\udfff", "\ud83d\ude00"]}}'
    corpus = read_corpus(written(tmp_path / "a.jsonl", line), column="te\ufffdxt")
    (batch,) = corpus.batches(["k", "o"])
    row = ["a", "b\ufffd", '{"\ufffd": ["\ufffd", "\U0001f600"]}']
    assert [column.to_pylist()[0] for column in batch.columns] == row
    path = written(tmp_path / "b.jsonl", r'{"text": {"\ud800": 1}}')
    with pytest.raises(CorpusError) as raised:
        documents(read_corpus(path))
    assert str(raised.value).encode()


# broken bytes


BROKEN = b"caf\xe9 \xe2\x82 \xf0\x9f\x98\x80"
REPLACED = BROKEN.decode("utf-8", "replace")


def test_broken_utf8_loses_no_rows_in_any_format_if_utf8_is_asked_for(tmp_path):
    contents = {
        "a.txt": b"one\n" + BROKEN + b"\nthree",
        "a.csv": b"text\none\n" + BROKEN + b"\nthree",
        "a.jsonl": b'{"text":"one"}\n{"text":"' + BROKEN + b'"}\n{"text":"three"}',
    }
    for name, content in contents.items():
        corpus = read_corpus(written(tmp_path / name, content), encoding="utf-8")
        assert documents(corpus) == ["one", REPLACED, "three"], name
    bad = pa.array([b"one", BROKEN, None], pa.binary()).view(pa.string())
    for array in (bad, bad.cast(pa.binary()).cast(pa.large_binary()).view(pa.large_string())):
        assert documents(read_corpus(array)) == ["one", REPLACED, ""]


def test_a_utf8_mark_at_the_start_is_skipped(tmp_path):
    mark = "\ufeff"
    assert documents(read_corpus(written(tmp_path / "a.txt", mark + "one\n" + mark))) == [
        "one",
        mark,
    ]
    assert documents(read_corpus(written(tmp_path / "a.csv", mark + "text\none\n"))) == ["one"]
    assert documents(read_corpus(written(tmp_path / "a.jsonl", mark + '{"text":"a"}'))) == ["a"]


@pytest.mark.parametrize(
    ("data", "meaning"),
    [
        (gzip.compress(b"one", mtime=0), r"suffix \.gz"),
        (b"\x28\xb5\x2f\xfd\x00", r"suffix \.zst"),
        (b"PAR1\x15\x04", r"suffix \.parquet"),
        (b"PK\x03\x04", r"suffix \.xlsx"),
        (bytes.fromhex("d0cf11e0a1b11ae1"), "old Office program"),
        (b"%PDF-1.7", "PDF"),
    ],
)
def test_what_is_no_text_is_recognized_by_its_first_bytes(tmp_path, data, meaning):
    with pytest.raises(CorpusError, match=rf"a\.txt: .*{meaning}"):
        read_corpus(written(tmp_path / "a.txt", data))


# cut, empty and forbidden files


@pytest.mark.parametrize("name", ["a.txt.gz", "a.txt.zst", "a.csv.gz", "a.jsonl.zst"])
def test_a_cut_compressed_file_is_an_error_with_its_name(tmp_path, name):
    line = '{"text": "x"}' if "jsonl" in name else "text"
    path = written(tmp_path / name, f"{line}\n" + "".join(f"{line}\n" for _ in range(50_000)))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(CorpusError, match=rf"{name}: the compressed data is cut short"):
        documents(read_corpus(path))


def test_what_is_not_compressed_as_its_suffix_says_is_an_error(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(bz2.compress(b"text"))
    with pytest.raises(CorpusError, match=r"a\.txt\.gz: the compressed data is damaged"):
        read_corpus(path)


def test_a_cut_parquet_file_is_an_error_with_its_name(tmp_path):
    path = parquet(tmp_path / "a.parquet", text=["word"] * 1000)
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(CorpusError, match=r"a\.parquet: not a whole parquet file"):
        read_corpus(path)


def test_a_parquet_file_damaged_inside_is_an_error_with_its_name(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [str(i) for i in range(10_000)]}), path, compression="zstd")
    data = path.read_bytes()
    path.write_bytes(data[:4] + bytes(2000) + data[2004:])
    with pytest.raises(CorpusError, match=r"a\.parquet: damaged after row 0"):
        documents(read_corpus(path))


def test_an_empty_file_is_no_documents_where_the_format_allows_it(tmp_path):
    assert list(read_corpus(written(tmp_path / "a.txt", ""))) == []
    assert list(read_corpus(written(tmp_path / "a.jsonl", ""))) == []
    assert list(read_corpus(parquet(tmp_path / "b.parquet", text=pa.array([], pa.string())))) == []
    assert list(read_corpus([])) == []
    for name in ("a.csv", "a.tsv", "a.parquet", "c.txt.gz", "c.txt.zst"):
        path = tmp_path / name
        path.touch()
        with pytest.raises(CorpusError, match=rf"{name}: .*empty.* expected"):
            read_corpus(path)


@contextmanager
def without_root_rights():
    """Root may read everything: be nobody for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="file rights as on Unix")
@pytest.mark.parametrize("name", ["a.txt", "a.parquet"])
def test_a_file_one_may_not_read_is_an_error_with_its_name(name):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        path = parquet(Path(folder, "some.parquet"), text=["a"]).rename(Path(folder, name))
        path.chmod(0)
        denied = rf"{name}: permission denied"
        with without_root_rights(), pytest.raises(CorpusError, match=denied):
            read_corpus(path)
        path.chmod(0o644)
        Path(folder).chmod(0)
        with without_root_rights(), pytest.raises(CorpusError, match=denied):
            read_corpus(path)
        Path(folder).chmod(0o755)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="file rights as on Unix")
def test_a_folder_one_may_not_look_into_is_an_error_with_its_name():
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        written(Path(folder, "a.txt"), "x")
        inner = Path(folder, "inner")
        inner.mkdir(mode=0)
        with without_root_rights(), pytest.raises(CorpusError, match="inner: permission denied"):
            read_corpus(folder)


def test_a_file_that_is_gone_when_it_is_read_is_an_error_with_its_name(tmp_path):
    path = written(tmp_path / "a.txt", "one")
    corpus = read_corpus(path)
    path.unlink()
    with pytest.raises(CorpusError, match=r"no such file: .*a\.txt"):
        documents(corpus)


def test_a_stream_that_does_not_wait_for_its_data_is_an_error_and_not_the_end():
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    with (
        io.FileIO(reader) as file,
        io.FileIO(writer, "w"),
        pytest.raises(CorpusError, match="a pipe: no data yet"),
    ):
        next(byte_chunks(file, "a pipe", 1))


def test_a_folder_without_readable_files_is_an_error_that_says_what_is_there(tmp_path):
    (tmp_path / "notes.docx").touch()
    with pytest.raises(CorpusError, match=r"no file to read; expected \.txt.*found notes\.docx"):
        read_corpus(tmp_path)


@pytest.mark.parametrize(
    "source", ["no/such/file.txt", "Lovely quiet room", "x" * 5000, "a\0b", Path("missing.csv")]
)
def test_a_string_that_is_no_path_is_an_error_that_says_so(source):
    with pytest.raises(CorpusError, match="no such file: "):
        read_corpus(source)


def test_a_pattern_without_a_match_is_an_error(tmp_path):
    with pytest.raises(CorpusError, match="no file matches"):
        read_corpus(f"{tmp_path}/*.csv")


def test_an_unknown_suffix_or_format_is_an_error_that_lists_the_known_ones(tmp_path):
    with pytest.raises(CorpusError, match=r"cannot tell the format.*\.txt, \.csv"):
        read_corpus(written(tmp_path / "a.docx", "x"))
    with pytest.raises(CorpusError, match=r"format='jsonl' \(--format jsonl\) reads one object"):
        read_corpus(written(tmp_path / "a.json", "{}"))
    with pytest.raises(CorpusError, match=r"format must be one of txt, csv, .*got 'xml'"):
        read_corpus(tmp_path / "a.docx", format="xml")
    with pytest.raises(CorpusError, match="decompress the file first"):
        read_corpus(written(tmp_path / "a.parquet.gz", "x"))
    with pytest.raises(CorpusError, match="format is for files"):
        read_corpus(["a"], format="txt")
    with pytest.raises(CorpusError, match="parquet cannot be read from a stream"):
        read_corpus("-", format="parquet")


# columns


def test_a_wrong_column_is_an_error_that_lists_the_columns_and_suggests_one(tmp_path):
    path = parquet(tmp_path / "a.parquet", review=["a"], rating=[5])
    message = "no column 'reviews'; its columns are 'review', 'rating'; did you mean 'review'"
    with pytest.raises(CorpusError, match=message):
        read_corpus(path, column="reviews")
    for frame in (pd.read_parquet(path), pl.read_parquet(path), pq.read_table(path)):
        with pytest.raises(CorpusError, match=message):
            read_corpus(frame, column="reviews")
    with pytest.raises(CorpusError, match=r"a\.csv: no column 'text'.*its columns are 'a', 'b'"):
        read_corpus(written(tmp_path / "a.csv", "a,b\n1,2\n"))


def test_a_column_that_is_no_text_is_an_error_that_names_its_type(tmp_path):
    path = parquet(tmp_path / "a.parquet", text=[1, 2])
    with pytest.raises(CorpusError, match="column 'text' must be text, found int64"):
        read_corpus(path)
    with pytest.raises(CorpusError, match="found double"):
        read_corpus(pd.Series([1.0]))
    with pytest.raises(CorpusError, match=r"found list<.*join the words"):
        read_corpus(pa.array([["a", "b"]]))
    with pytest.raises(CorpusError, match="found binary; cast the column to string"):
        read_corpus(pa.array([b"a"]))
    with pytest.raises(CorpusError, match="mixes types"):
        read_corpus(pd.Series(["a", 1], dtype=object))


@pytest.mark.parametrize(
    "source",
    [
        ["a", None, None],
        np.array(["a", None, np.nan], dtype=object),
        pd.Series(["a", None, np.nan], dtype=object),
        pd.Series(["a", pd.NA, None], dtype="string"),
        pd.Series(["a", None, None], dtype="category"),
        pa.chunked_array([["a"], [None, None]]),
    ],
    ids=["list", "numpy", "objects", "strings", "categories", "chunks"],
)
def test_what_the_model_takes_is_read_the_same_way(source):
    assert documents(read_corpus(source)) == ["a", "", ""]
    expected = as_text_batch(["a", None, None], "words")
    for chunk in as_corpus(source):
        texts = as_text_batch(chunk, "words")
        assert texts.data.tobytes()[texts.ends[0] : texts.ends[-1]] == expected.data.tobytes()
        assert texts.documents == 3


@pytest.mark.parametrize("text", ["a\ud83db", "\ud83c\udf0a \ud800"])
def test_texts_are_mended_in_one_way(text):
    for source in ([text], pd.Series([text], dtype=object)):
        (mended,) = documents(read_corpus(source))
        for chunk in as_corpus(source):
            assert as_text_batch(chunk, "words").data.tobytes() == mended.encode()


def test_a_column_of_missing_values_holds_empty_documents():
    assert documents(read_corpus(pd.Series([np.nan, np.nan]))) == ["", ""]


def test_what_is_no_corpus_is_an_error_that_says_what_it_is():
    for source in (17, None, b"text", {"a": 1}, {"a"}):
        with pytest.raises(CorpusError, match=f"got {type(source).__name__}"):
            read_corpus(source)
    with pytest.raises(CorpusError, match="collect"):
        read_corpus(pl.LazyFrame({"text": ["a"]}))
    for bad in (3, ["a", "b"], b"bytes", float("nan")):
        with pytest.raises(CorpusError, match=f"found {type(bad).__name__} .*at position 1"):
            documents(read_corpus(["a", bad]))


def test_a_list_of_file_names_is_not_taken_for_documents(tmp_path):
    path = written(tmp_path / "a.txt", "x")
    with pytest.raises(CorpusError, match=r"make each a pathlib\.Path"):
        read_corpus([str(path)])
    with pytest.raises(CorpusError, match="mixes them"):
        read_corpus([path, "a document"])


def test_batches_hold_the_documents_first_and_the_columns_asked_for(tmp_path):
    table = pa.table({"id": [1, 2], "text": ["a", None], "on": [True, False]})
    pq.write_table(table, tmp_path / "a.parquet")
    for source in (tmp_path / "a.parquet", table, pl.from_arrow(table), table.to_pandas()):
        corpus = read_corpus(source)
        (batch,) = corpus.batches(["on", "text", "id"])
        assert batch.schema.names == ["text", "on", "id"]
        assert batch.to_pydict() == {"text": ["a", None], "on": [True, False], "id": [1, 2]}
        assert batch.schema == corpus.schema(["on", "id"])
        with pytest.raises(CorpusError, match=r"no column 'idd'.*did you mean 'id'"):
            corpus.batches(["idd"])


def test_columns_of_text_formats_are_text_and_of_any_other_kind_none(tmp_path):
    csv = read_corpus(written(tmp_path / "a.csv", "id,text\n1,a\n,b\n"))
    assert next(csv.batches(["id"])).to_pydict() == {"text": ["a", "b"], "id": ["1", ""]}
    lines = '{"text": "a", "id": 1, "x": {"y": [true]}}\n{"text": "b"}\n'
    jsonl = read_corpus(written(tmp_path / "a.jsonl", lines))
    assert next(jsonl.batches(["id", "x"])).to_pydict() == {
        "text": ["a", "b"],
        "id": ["1", None],
        "x": ['{"y": [true]}', None],
    }
    assert read_corpus(["a"], column="review").columns == ["review"]
    with pytest.raises(CorpusError, match="no column 'id'"):
        read_corpus(["a"]).batches(["id"])


def test_files_of_a_folder_share_the_columns_that_all_have(tmp_path):
    pq.write_table(
        pa.table({"text": ["a"], "n": pa.array([1], pa.int32())}), tmp_path / "a.parquet"
    )
    pq.write_table(pa.table({"n": [2], "x": [0], "text": ["b"]}), tmp_path / "b.parquet")
    corpus = read_corpus(tmp_path)
    assert corpus.columns == ["text", "n"]
    table = pa.Table.from_batches(list(corpus.batches(["n"])))
    assert table.to_pydict() == {"text": ["a", "b"], "n": [1, 2]}
    with pytest.raises(CorpusError, match=r"a\.parquet: no column 'x'"):
        corpus.batches(["x"])
    written(tmp_path / "c.csv", "n,text\nmany,c\n")
    mixed = read_corpus(tmp_path)
    assert documents(mixed) == ["a", "b", "c"]
    assert mixed.documents is None
    with pytest.raises(CorpusError, match="other types in other files"):
        mixed.batches(["n"])


# once only


def test_a_generator_can_be_read_once_and_then_says_why_not(tmp_path):
    corpus = read_corpus(text for text in TEXTS)
    assert corpus.one_shot
    assert corpus.documents is None
    assert documents(corpus) == TEXTS
    with pytest.raises(CorpusError, match=r"only once.*write it to a file, or pass a list"):
        documents(corpus)


def test_an_iterable_that_starts_anew_is_not_one_shot():
    class Reviews:
        def __iter__(self):
            return iter(TEXTS)

    corpus = read_corpus(Reviews())
    assert not corpus.one_shot
    assert documents(corpus) == documents(corpus) == TEXTS


# bounds


def test_a_document_of_fifty_megabytes_is_read_whole_from_every_format(tmp_path):
    giant = 'many "words"\tand more ' * (50 * 2**20 // 22)
    quoted = '"' + giant.replace('"', '""') + '"'
    with_newlines = quoted.replace(" and", "\nand")
    contents = {
        "a.txt": "small\n" + giant + "\nlast",
        "a.csv": "text,id\nsmall,1\n" + with_newlines + ",2\nlast,3\n",
        "a.jsonl": '{"text":"small"}\n' + json.dumps({"text": giant}) + '\n{"text":"last"}',
    }
    for name, content in contents.items():
        found = documents(read_corpus(written(tmp_path / name, content)))
        expected = giant.replace(" and", "\nand") if name == "a.csv" else giant
        assert [len(text) for text in found] == [5, len(expected), 4], name
        assert found[1] == expected, name
    table = parquet(tmp_path / "a.parquet", text=["small", giant, "last"])
    assert [len(text) for text in documents(read_corpus(table))] == [5, len(giant), 4]


def test_chunks_are_bounded_in_bytes_and_documents(tmp_path):
    long, short = ["x" * 100_000] * 200, ["y"] * 150_000
    parquet(tmp_path / "a.parquet", text=long + short)
    written(tmp_path / "b.txt", "\n".join(long + short))
    sources = [pa.chunked_array([long + short]), pl.Series(long + short), long + short]
    for source in [tmp_path / "a.parquet", tmp_path / "b.txt", *sources]:
        chunks = list(read_corpus(source))
        assert [len(text) for chunk in chunks for text in chunk.to_pylist()] == (
            [100_000] * 200 + [1] * 150_000
        )
        assert max(len(chunk) for chunk in chunks) <= CHUNK_DOCUMENTS
        assert max(sum(map(len, chunk.to_pylist())) for chunk in chunks) <= CHUNK_BYTES
        assert len(chunks) < 12


def test_thousands_of_small_files_do_not_make_thousands_of_chunks(tmp_path):
    for number in range(300):
        written(tmp_path / f"{number:03}.txt", f"{number}\n")
    (chunk,) = read_corpus(tmp_path)
    assert chunk.to_pylist() == [str(number) for number in range(300)]


def test_a_record_longer_than_the_limit_is_an_error_and_not_a_full_memory():
    data = b'1,"' + b"x\n" * 1000
    for delimiter in (",", None):
        chunks = byte_chunks(io.BytesIO(data.replace(b"\n", b" ")), "a.csv", 64)
        with pytest.raises(
            CorpusError, match=r"a\.csv: one record is longer than 500 bytes.*quote"
        ):
            list(whole_records(chunks, "a.csv", delimiter, largest=500))


@pytest.mark.parametrize(
    ("data", "whole"),
    [
        (b'1,"a\nb"\n2,c', 8),
        (b'1,"a""\n""b"\n', 12),
        (b'1,a "\n2,b "\n', 12),  # a quote inside a field is a character
        (b'"a" b,"\n', 0),
        (b'"a"\r2\r"', 6),
        (b"\n\n", 2),
        (b"", 0),
    ],
)
def test_a_row_ends_at_a_line_break_outside_quotes(data, whole):
    assert last_end(data, ",") == whole


def test_doubled_quotes_cost_no_memory_however_many():
    data = b'1,"' + b'""' * 300_000 + b'"\n'
    tracemalloc.start()
    assert last_end(data, ",") == len(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    script = (
        "import resource, sys; from deltavec.io.corpus.corpus import read_corpus\n"
        "def used(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        "chunks = iter(read_corpus(sys.argv[1]))\n"
        "next(chunks); before = used()\n"
        "assert sum(len(chunk) for chunk in chunks) > 240_000\n"
        "print(used() - before)\n"
    )
    block = gzip.compress(b"1,of a kilobyte or so " + b"word " * 200 + b"\n", 1) * 1000
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"id,text\n") + block * 256)  # 256 MB of text
    ran = subprocess.run(
        [sys.executable, "-c", script, str(path)], check=True, stdout=subprocess.PIPE
    )
    assert int(ran.stdout) < 100  # megabytes


# progress and identity


def test_a_watched_corpus_reports_how_much_has_been_consumed(tmp_path):
    texts = [f"{number} " + "word " * 100 for number in range(20_000)]
    parquet(tmp_path / "a.parquet", text=texts)
    written(tmp_path / "b.txt.gz", "\n".join(texts))
    written(tmp_path / "c.txt", "\n".join(texts))
    for source in (tmp_path / "a.parquet", tmp_path / "b.txt.gz", tmp_path, texts):
        seen = []
        corpus = read_corpus(source)
        watched = corpus.watched(seen.append)
        for chunks, _ in enumerate(watched):
            assert len(seen) == chunks
        assert seen == sorted(seen)
        assert 0 < seen[0] < 1
        assert seen[-1] == 1.0
        assert corpus.on_consumed is None


def test_a_source_of_unknown_size_reports_only_its_end():
    seen = []
    documents(read_corpus(iter(["a", "b"])).watched(seen.append))
    assert seen == [1.0]


def test_the_identity_of_a_corpus_changes_with_its_files(tmp_path):
    path = written(tmp_path / "a.csv", "text,other\n1,2")
    first = read_corpus(path).identity
    assert first == read_corpus(str(path)).identity
    assert first != read_corpus(path, column="other").identity
    assert first != read_corpus(path, encoding="cp1252").identity
    assert first == read_corpus(path, delimiter=",").identity
    written(path, "text,other\n1,23")
    assert first != read_corpus(path).identity
    assert read_corpus(["a"]).identity is None


def test_importing_the_module_loads_no_heavy_package():
    script = (
        "import sys, deltavec.io.corpus.corpus\n"
        "heavy = {'numba', 'sklearn', 'pandas', 'polars', 'scipy', 'gensim', 'pyarrow.parquet',"
        " 'pyarrow.csv', 'pyarrow.json', 'pyarrow.compute', 'pyarrow.dataset'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
