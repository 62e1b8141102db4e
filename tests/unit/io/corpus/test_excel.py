import subprocess
import sys
import zipfile
from datetime import date, datetime, time

import pyarrow as pa
import pytest

from deltavec.errors import CorpusError
from deltavec.io.corpus import excel
from deltavec.io.corpus.corpus import read_corpus

openpyxl = pytest.importorskip("openpyxl", reason="needs the extra excel")

PROSE = "the room was quiet and the harbour near"
HEADER = ["id", "review", "stars", "day", "price", "checked"]
ROWS = [
    ["007", PROSE, 5, datetime(2024, 5, 31), 99.5, True],
    ["8", f"{PROSE}\nand Schönes 日本", 4, datetime(2024, 6, 1), 80, False],
    ["9", None, None, None, None, None],
]


def documents(corpus):
    return [document for chunk in corpus for document in chunk.to_pylist()]


def workbook(path, *rows, sheets=("Reviews",)):
    book = openpyxl.Workbook()
    book.active.title = sheets[0]
    for row in rows:
        book.active.append(row)
    for name in sheets[1:]:
        book.create_sheet(name)
    book.save(path)
    return path


def test_the_rows_of_the_first_sheet_are_documents(tmp_path):
    corpus = read_corpus(workbook(tmp_path / "a.xlsx", [], HEADER, *ROWS, [], [None] * 6))
    assert corpus.columns == HEADER
    assert corpus.column == "review"
    assert "from the column 'review'" in corpus.note
    assert documents(corpus) == [PROSE, f"{PROSE}\nand Schönes 日本", ""]
    assert documents(corpus) == documents(corpus)


def test_cells_have_their_types_and_ids_stay_as_they_are_written(tmp_path):
    path = workbook(tmp_path / "a.xlsx", HEADER, *ROWS)
    keep = ["id", "stars", "day", "price", "checked"]
    (batch,) = read_corpus(path, column="review").typed(keep).batches(keep)
    kinds = [pa.string(), pa.int64(), pa.date32(), pa.float64(), pa.bool_()]
    assert batch.schema.types[1:] == kinds
    assert batch.column("id").to_pylist() == ["007", "8", "9"]
    assert batch.column("stars").to_pylist() == [5, 4, None]
    assert batch.column("day").to_pylist() == [date(2024, 5, 31), date(2024, 6, 1), None]


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (5, "5"),
        (5.0, "5"),
        (5.25, "5.25"),
        (True, "true"),
        (datetime(2024, 5, 31, 18, 30), "2024-05-31 18:30:00"),
        (date(2024, 5, 31), "2024-05-31"),
        (time(18, 30), "18:30:00"),
        ("=1+1", None),  # a formula that no program has computed yet
        ("  as it is ", "  as it is "),
    ],
)
def test_a_cell_is_the_text_that_a_csv_file_would_have(tmp_path, cell, text):
    path = workbook(tmp_path / "a.xlsx", ["text", "cell"], ["a", cell])
    (batch,) = read_corpus(path).batches(["cell"])
    assert batch.column("cell").to_pylist() == [text]


def test_which_of_several_sheets_is_read_is_told(tmp_path):
    path = workbook(tmp_path / "a.xlsx", ["text"], ["one"], sheets=("First", "Second"))
    corpus = read_corpus(path)
    assert corpus.note == f"{path}: the first of 2 sheets is read, 'First'"
    assert documents(corpus) == ["one"]


def test_rows_may_be_shorter_than_the_header(tmp_path):
    path = workbook(tmp_path / "a.xlsx", ["id", "text"], ["1"], ["2", "two"])
    assert documents(read_corpus(path)) == ["", "two"]


def test_many_rows_are_read_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(excel, "ROWS", 7)
    texts = [f"document {number}" for number in range(50)]
    path = workbook(tmp_path / "a.xlsx", ["text"], *([text] for text in texts))
    assert documents(read_corpus(path)) == texts
    seen = []
    documents(read_corpus(path).watched(seen.append))
    assert seen[-1] == 1.0


def test_an_empty_sheet_has_no_columns(tmp_path):
    with pytest.raises(CorpusError, match=r"a\.xlsx: empty; expected a header row"):
        read_corpus(workbook(tmp_path / "a.xlsx"))


def test_a_workbook_may_have_another_name_if_its_format_is_told(tmp_path):
    path = workbook(tmp_path / "a.xlsx", ["text"], ["one"]).rename(tmp_path / "a.data")
    assert documents(read_corpus(path, format="xlsx")) == ["one"]


def test_a_workbook_in_a_folder_is_read_with_the_other_files(tmp_path):
    workbook(tmp_path / "a.xlsx", ["id", "text"], ["1", "one"])
    (tmp_path / "b.csv").write_text("id;text\n2;two\n")
    assert documents(read_corpus(tmp_path)) == ["one", "two"]


@pytest.mark.parametrize("damage", [b"PK\x03\x04 cut short", b"text,id\n1,2\n", b""])
def test_what_is_no_workbook_is_an_error_that_says_so(tmp_path, damage):
    path = tmp_path / "a.xlsx"
    path.write_bytes(damage)
    with pytest.raises(CorpusError, match=r"a\.xlsx: not an Excel workbook.*as \.csv"):
        read_corpus(path)


def test_a_workbook_damaged_inside_is_an_error_that_says_so(tmp_path):
    whole = workbook(tmp_path / "a.xlsx", ["text"], ["one"])
    broken = tmp_path / "b.xlsx"
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(broken, "w") as target:
        for part in source.namelist():
            data = source.read(part)
            target.writestr(part, data[: len(data) // 2] if "sheet1" in part else data)
    with pytest.raises(CorpusError, match=r"b\.xlsx: not an Excel workbook"):
        documents(read_corpus(broken))


def test_a_workbook_that_decompresses_to_more_than_is_sensible_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(excel, "LARGEST_PART", 1000)
    path = workbook(tmp_path / "a.xlsx", ["text"], ["one " * 1000])
    with pytest.raises(CorpusError, match=r"a\.xlsx: decompresses to .* bytes.*as \.csv"):
        read_corpus(path)


def test_a_workbook_cannot_come_from_a_stream_nor_compressed(tmp_path):
    with pytest.raises(CorpusError, match="xlsx cannot be read from a stream"):
        read_corpus("-", format="xlsx")
    with pytest.raises(CorpusError, match="compressed inside"):
        read_corpus(workbook(tmp_path / "a.xlsx", ["text"]).rename(tmp_path / "a.xlsx.gz"))
    with pytest.raises(CorpusError, match=r"encoding \(--encoding\) is for txt, csv, tsv, jsonl"):
        read_corpus(workbook(tmp_path / "a.xlsx", ["text"], ["a"]), encoding="cp1252")


def test_without_its_reader_the_error_names_the_extra(tmp_path):
    path = workbook(tmp_path / "a.xlsx", ["text"], ["one"])
    script = (
        "import sys; sys.modules['openpyxl'] = None\n"
        "import deltavec as dv\n"
        "try:\n"
        "    dv.read_corpus(sys.argv[1])\n"
        "except dv.MissingDependencyError as error:\n"
        "    assert \"pip install 'deltavec[excel]'\" in str(error), error\n"
        "else:\n"
        "    sys.exit('no error')\n"
    )
    subprocess.run([sys.executable, "-c", script, path], check=True)
