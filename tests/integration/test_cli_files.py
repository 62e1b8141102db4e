"""Files as people have them: whatever wrote them, the command reads them or says what to do."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

import deltavec as dv
from support.typed import Deltavec

SENTENCE = (
    "schönes Zimmer über der Straße, früh ruhig; Frühstück naïve café Größe Bäder günstig weiß "
    "österreichische Küche hören grüßen für jede müde Gäste Möwen Körbe häufig Türen Höfe Öl"
)


def rows(count: int) -> Iterator[list[str]]:
    """A table in letters that Latin-1 has: ids, texts with commas and quotes, ratings."""
    draw = Random(5)
    for number in range(count):
        words = draw.choices(SENTENCE.split(), k=draw.randint(5, 20))
        yield [f"{number:05}", f'"{words[0]}" {" ".join(words)}', str(draw.randint(1, 5))]


def table(count: int, delimiter: str = ",") -> str:
    target = io.StringIO(newline="")
    writer = csv.writer(target, delimiter=delimiter)
    writer.writerows([["Nummer", "Bewertung", "Sterne"], *rows(count)])
    return target.getvalue()


# A name for each way to write the table, the bytes, and what the command must be told.
WAYS: dict[str, Callable[[int], bytes]] = {
    "plain.csv": lambda count: table(count).encode(),
    "marked.csv": lambda count: table(count).encode("utf-8-sig"),
    "sixteen.csv": lambda count: table(count).encode("utf-16"),
    "latin.csv": lambda count: table(count).encode("latin-1"),
    "semicolons.csv": lambda count: table(count, ";").encode(),
    "tabs.csv": lambda count: table(count, "\t").encode(),
    "pipes.csv": lambda count: table(count, "|").encode("utf-16"),
    "tabs.tsv.gz": lambda count: gzip.compress(table(count, "\t").encode("utf-16")),
    "marked.csv.zst": lambda count: pa.compress(
        table(count, ";").encode("utf-8-sig"), codec="zstd", asbytes=True
    ),
    "sixteen.jsonl": lambda count: as_lines(count).encode("utf-16"),
    "lines.txt": lambda count: "".join(f"{text}\n" for _, text, _ in rows(count)).encode(),
}


def as_lines(count: int) -> str:
    names = ("Nummer", "Bewertung", "Sterne")
    records = (dict(zip(names, row, strict=True)) for row in rows(count))
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def model_bytes(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.iterdir())]


def fitted(deltavec: Deltavec, path: Path, *options: object) -> Path:
    model = path.with_suffix(".dv")
    done = deltavec("fit", path, "-o", model, "--dimensions", 20, *options)
    assert done.code == 0, done.stderr
    return model


def test_one_table_in_every_way_to_write_it_makes_one_model(
    tmp_path: Path, deltavec: Deltavec
) -> None:
    models = {}
    for name, data in WAYS.items():
        path = tmp_path / name
        path.write_bytes(data(400))
        column = [] if name == "lines.txt" else ["--column", "Bewertung"]
        encoding = ["--encoding", "latin-1"] if name == "latin.csv" else []
        models[name] = model_bytes(fitted(deltavec, path, *column, *encoding))
    lines = models.pop("lines.txt")
    assert all(model == models["plain.csv"] for model in models.values())
    assert lines[1] == models["plain.csv"][1]  # but for the note of the column


def test_22_000_rows_in_six_ways_make_one_model_bit_for_bit(
    tmp_path: Path, deltavec: Deltavec
) -> None:
    names = ["plain.csv", "marked.csv", "sixteen.csv", "latin.csv", "semicolons.csv", "tabs.csv"]
    models = {}
    for name in names:
        path = tmp_path / name
        path.write_bytes(WAYS[name](22_000))
        encoding = ["--encoding", "latin-1"] if name == "latin.csv" else []
        models[name] = model_bytes(fitted(deltavec, path, "-c", "Bewertung", *encoding))
    assert len({tuple(model) for model in models.values()}) == 1
    error = deltavec("fit", tmp_path / "latin.csv", "-o", tmp_path / "x.dv").error
    assert "latin.csv, line 2: not UTF-8" in error
    assert "--encoding cp1252" in error
    assert not (tmp_path / "x.dv").exists()


def test_every_command_that_reads_documents_takes_an_encoding_and_a_delimiter(
    tmp_path: Path, deltavec: Deltavec
) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes(table(60, "^").encode("latin-1"))
    told = ("--encoding", "latin-1", "--delimiter", "^")
    model = fitted(deltavec, path, *told)
    idx, out, vectors = tmp_path / "a.idx", tmp_path / "a.parquet", tmp_path / "a.vec"
    commands = (
        ("vectors", "train", path, "-o", vectors, "--dimensions", 5),
        ("embed", model, path, "-o", out, "--keep", "Nummer"),
        ("index", "build", model, path, "-o", idx, "--id-column", "Nummer"),
        ("tune", path, "--group-column", "Sterne", "--budget", "1s", "--documents", 40),
    )
    for command in commands:
        done = deltavec(*command, *told)
        assert done.code == 0, done.stderr
        assert "--encoding cp1252" in deltavec(*command, "--delimiter", "^").error
    more = tmp_path / "more.csv"
    more.write_bytes("Nummer^Bewertung\nneu^schöne Küche".encode("latin-1"))
    assert deltavec("index", "add", idx, more, *told).code == 0
    assert dv.open_collection(idx).documents(["neu"])["text"].to_pylist() == ["schöne Küche"]


def test_the_column_is_guessed_told_and_remembered(tmp_path: Path, deltavec: Deltavec) -> None:
    path = tmp_path / "reviews.csv"
    path.write_bytes(table(60, ";").encode("utf-16"))
    model = tmp_path / "a.dv"
    done = deltavec("fit", path, "-o", model, "--json")
    told = (
        f"deltavec: {path}: the text is taken from the column 'Bewertung'; --column names another"
    )
    assert done.stderr.splitlines()[0] == told
    assert done.json["column"] == "Bewertung"
    both = tmp_path / "both.csv"
    both.write_text("text,Bewertung,Notiz\nnein,Zimmer,\n")
    done = deltavec("index", "build", model, both, "-o", tmp_path / "a.idx")
    assert (done.code, done.stderr) == (0, "")
    assert dv.open_collection(tmp_path / "a.idx").documents([0])["text"].to_pylist() == ["Zimmer"]
    dv.build_collection(dv.load(model), both, tmp_path / "b.idx")
    assert dv.open_collection(tmp_path / "b.idx").documents([0])["text"].to_pylist() == ["Zimmer"]
    done = deltavec("embed", model, both, "-o", tmp_path / "a.npy")
    assert (done.code, done.stderr) == (0, "")


PROSE = "a long and quiet text about a room by the sea"


@pytest.mark.parametrize(
    ("name", "content", "options", "said"),
    [
        ("a.txt", "one\n", "--column text2", "no column 'text2': leave column (--column) out"),
        ("a.txt", "one\n", "--delimiter ;", "delimiter (--delimiter) is for csv, tsv"),
        ("a.jsonl", '{"text": "a"}', "--delimiter tab", "this is jsonl; leave it out"),
        ("a.csv", "text\na\n", "--delimiter ;;", "delimiter must be one character"),
        ("a.csv", "text\na\n", "--encoding utf9", "encoding must be a name that Python knows"),
        ("a.csv", "text\na\n", "--encoding cp1525", "did you mean 'cp1252'?"),
        ("a.csv", "date,Review Text\n1,2\n", "--column review_text", "mean 'Review Text'?"),
        ("a.csv", "date,rating\n1,2\n", "--column Review", "are 'date', 'rating'"),
        ("a.csv", "date,rating\n1,2\n", "", "name the one with the documents"),
        ("a.csv", f"a,b\n{PROSE},{PROSE}\n", "", "('a', 'b' do)"),
        ("a.csv", "id;text\n1;a\n2;b;c\n", "", "the delimiter ';' must be quoted"),
        ("a.csv", "review\nquiet, lovely\n", "-c review", "(--format txt) reads each line"),
        ("a.csv", "text\na\n", "--encoding utf-16", "--encoding utf-16-le), or -be"),
        ("a.csv", "", "", "empty; expected a header row"),
        ("a.md", "# one\n", "", "--format txt) reads each line as a document"),
        ("a.log", "one\n", "", "--format txt) reads each line as a document"),
        ("a", "one\n", "", "--format txt) reads each line as a document"),
        ("a.json", "[]", "", "--format jsonl) reads one object per line"),
        ("a.docx", "x", "", "extract the text first"),
        ("a.pdf", "x", "", "extract the text first"),
        ("a.xls", "x", "", "save it as .xlsx or .csv"),
        ("a.csv.bz2", "x", "", "unpack it first"),
        ("a.zip", "x", "", "unpack it first"),
        ("a.csv", "PK\x03\x04x", "", "give an Excel workbook the suffix .xlsx"),
        ("a.csv", "t\0e\0x\0t\0\r\0\n\0" * 9, "", "--encoding utf-16-le"),
        ("a.txt", "one\n", "--format parquet", "not a whole parquet file"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_in_one_line_with_what_helps(
    name: str, content: str, options: str, said: str, tmp_path: Path, deltavec: Deltavec
) -> None:
    path = tmp_path / name
    path.write_text(content, newline="")
    error = deltavec("fit", path, "-o", tmp_path / "m.dv", *options.split()).error
    assert said in error
    assert str(path) in error or "must be" in error


def test_no_suggestion_is_better_than_a_distant_one(tmp_path: Path, deltavec: Deltavec) -> None:
    path = tmp_path / "a.csv"
    path.write_text("date,id\n1,2\n")
    error = deltavec("fit", path, "-o", tmp_path / "m.dv", "--column", "Review Text").error
    assert "did you mean" not in error


def test_standard_input_is_refused_a_column_it_does_not_have(process: Deltavec) -> None:
    done = process("fit", "-", "-o", "m.dv", "--column", "Review", stdin=b"Review\nx\n")
    assert "standard input: read as txt" in done.error
    assert "--format csv" in done.error


def test_standard_input_in_another_encoding_with_another_delimiter(
    tmp_path: Path, process: Deltavec
) -> None:
    data = table(60, ";").encode("utf-16")
    model = tmp_path / "m.dv"
    done = process("fit", "-", "--format", "csv", "-o", model, stdin=data)
    assert done.code == 0, done.stderr
    assert "standard input: the text is taken from the column 'Bewertung'" in done.stderr
    assert "österreichische" in dv.load(model).vocabulary


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_a_folder_of_documents_is_passed_over(tmp_path: Path, process: Deltavec) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.csv").write_bytes(table(60).encode())
    os.mkfifo(folder / "b.csv")
    done = process("fit", folder, "-o", tmp_path / "m.dv")
    assert done.code == 0, done.stderr
    done = process("fit", f"{folder}/*.csv", "-o", tmp_path / "m.dv")
    assert "b.csv: a pipe" in done.error


TYPED = """\
id;Text;Sterne;Tag;Preis;geprüft;PLZ
007;ruhiges Zimmer am Hafen, sehr schön;5;31.12.2023;99.5;true;01067
8;lautes Zimmer an der Straße, nicht schön;2;1.2.2024;80;false;10115
9;schöne Küche und ruhiges Zimmer;4;15.2.2024;;true;10117
"""


def test_numbers_dates_and_booleans_of_a_csv_file_are_filtered_as_what_they_are(
    tmp_path: Path, deltavec: Deltavec
) -> None:
    path, model, idx = tmp_path / "a.csv", tmp_path / "a.dv", tmp_path / "a.idx"
    path.write_bytes(TYPED.encode("cp1252"))
    assert deltavec("fit", path, "-o", model, "--encoding", "cp1252").code == 0
    keep = "Sterne,Tag,Preis,geprüft,PLZ"
    told = ("--encoding", "cp1252", "--id-column", "id", "--keep", keep)
    done = deltavec("index", "build", model, path, "-o", idx, *told, "--json")
    assert done.json["columns"] == {
        "Sterne": "int64",
        "Tag": "date32[day]",
        "Preis": "double",
        "geprüft": "bool",
        "PLZ": "string",
    }
    for condition, ids in (
        ("Sterne >= 4", ["007", "9"]),
        ("Tag >= '2024-01-01'", ["8", "9"]),
        ("Preis < 90", ["8"]),
        ("Preis is null", ["9"]),
        ("geprüft == true", ["007", "9"]),
        ("PLZ == '01067'", ["007"]),
    ):
        found = deltavec("search", idx, "Zimmer", "--filter", condition, "--json").json["found"]
        assert sorted(hit["id"] for hit in found) == ids, condition
    more = tmp_path / "more.csv"
    more.write_text(f"{TYPED.splitlines()[0]}\n10;Zimmer;3;2024-03-01;75;true;01067\n")
    assert deltavec("index", "add", idx, more).code == 0
    more.write_text(f"{TYPED.splitlines()[0]}\n11;Zimmer;drei;2024-03-01;;;\n")
    error = deltavec("index", "add", idx, more).error
    assert "column 'Sterne' holds string, in the collection it is int64" in error
    assert "'drei'" in error
    more.write_text(f"{TYPED.splitlines()[0]}\n11;Zimmer;3;20240301;;;\n")
    assert "a number is no date" in deltavec("index", "add", idx, more).error
    assert dv.open_collection(idx).documents([3])["Preis"].to_pylist() == [75.0]


def test_a_workbook_is_read_as_the_csv_file_of_its_sheet(
    tmp_path: Path, deltavec: Deltavec
) -> None:
    openpyxl = pytest.importorskip("openpyxl", reason="needs the extra excel")
    book = openpyxl.Workbook()
    book.active.append(["Nummer", "Bewertung", "Sterne"])
    for number, text, stars in rows(100):
        book.active.append([number, text, int(stars)])
    book.create_sheet("Leer")
    book.save(tmp_path / "a.xlsx")
    (tmp_path / "b.csv").write_bytes(table(100).encode())
    done = deltavec("fit", tmp_path / "a.xlsx", "-o", tmp_path / "a.dv", "--dimensions", 20)
    assert done.code == 0, done.stderr
    assert "the first of 2 sheets is read, 'Sheet'; " in done.stderr
    assert "the text is taken from the column 'Bewertung'" in done.stderr
    model = fitted(deltavec, tmp_path / "b.csv")
    assert model_bytes(tmp_path / "a.dv") == model_bytes(model)
    idx = tmp_path / "a.idx"
    told = ("--id-column", "Nummer", "--keep", "Sterne", "--json")
    done = deltavec("index", "build", model, tmp_path / "a.xlsx", "-o", idx, *told)
    assert done.json["columns"] == {"Sterne": "int64"}
    assert dv.open_collection(idx).documents(["00007"])["id"].to_pylist() == ["00007"]
    (tmp_path / "a.xlsx").write_bytes(b"no workbook")
    error = deltavec("fit", tmp_path / "a.xlsx", "-o", tmp_path / "c.dv").error
    assert "a.xlsx: not an Excel workbook" in error
