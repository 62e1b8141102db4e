from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltavec.errors import CorpusError
from deltavec.io.corpus.columns import Seen, without_missing
from deltavec.io.corpus.corpus import read_corpus


def found(*values):
    """The type of a column and its values, each value in a chunk of its own."""
    seen = Seen()
    for value in values:
        seen.look_at(pa.array([value], pa.string()))
    if seen.kind is None:
        return None
    parsed = seen.kind.values(without_missing(pa.array(values, pa.string())))
    return str(parsed.type), parsed.to_pylist()


@pytest.mark.parametrize(
    ("values", "kind", "parsed"),
    [
        (["1", "-20", "0"], "int64", [1, -20, 0]),
        (["123456789012345678"], "int64", [123456789012345678]),
        (["1", "2.5", "1e+03", "0.5", "7.0"], "double", [1.0, 2.5, 1000.0, 0.5, 7.0]),
        (["2.50", "13.99", "-0.10"], "double", [2.5, 13.99, -0.1]),  # all have two decimals
        (["0.12345678901234"], "double", [0.12345678901234]),
        (["true", "False", "TRUE"], "bool", [True, False, True]),
        (["2024-02-29"], "date32[day]", [date(2024, 2, 29)]),
        (["31.12.2024", "1.2.2024"], "date32[day]", [date(2024, 12, 31), date(2024, 2, 1)]),
        (["2024/1/31"], "date32[day]", [date(2024, 1, 31)]),
        (["2024-01-31", "2024-01-31 10:30"], "timestamp[us]",
         [datetime(2024, 1, 31), datetime(2024, 1, 31, 10, 30)]),
        (["2024-01-31T10:30:00.25"], "timestamp[us]", [datetime(2024, 1, 31, 10, 30, 0, 250_000)]),
        (["2024-01-31T10:30:00Z", "2024-01-31 10:30+02:00"], "timestamp[us, tz=UTC]",
         [datetime(2024, 1, 31, hour, 30, tzinfo=UTC) for hour in (10, 8)]),
        (["1", "", "NA", None, " 2 "], "int64", [1, None, None, None, 2]),
    ],
)  # fmt: skip
def test_a_column_whose_values_all_are_something_is_that(values, kind, parsed):
    assert found(*values) == (kind, parsed)


@pytest.mark.parametrize(
    "values",
    [
        ["007", "8"],  # an id, or a postcode: its zeros are part of it
        ["1", "2", "three"],
        ["1234567890123456789"],  # more digits than a number keeps
        ["1234567890123456", "0.5"],
        ["1e400", "1"],
        ["1.0", "1.10", "1.9"],  # versions: 1.1 is another one
        ["1e3", "1000"],
        ["0.1234567890123456789"],
        [".5"],
        ["inf"],
        ["1,5"],
        ["yes", "no"],
        ["2023-02-29"],
        ["2024-13-01"],
        ["0024-01-01"],
        ["2024-01-31 10:30", "2024-01-31 10:30Z"],  # with and without a zone
        ["2024-01-31 24:30"],
        ["true", "1"],
        ["２"],
        ["", "NA"],
        [],
    ],
)
def test_a_column_with_a_value_that_does_not_fit_stays_text(values):
    assert found(*values) is None


def test_days_and_months_are_told_apart_by_a_day_beyond_the_twelfth_or_not_at_all():
    assert found("1/2/2024", "13/2/2024") == ("date32[day]", [date(2024, 2, 1), date(2024, 2, 13)])
    assert found("2/1/2024", "2/13/2024") == ("date32[day]", [date(2024, 2, 1), date(2024, 2, 13)])
    assert found("1/2/2024", "2/3/2024") is None
    assert found("13/1/2024", "1/13/2024") is None


def test_a_corpus_has_types_only_when_it_is_asked_for_them(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,text,stars,day\n007,a,5,2024-01-31\n8,b,,2024-02-01\n")
    corpus = read_corpus(path)
    kept = ["id", "stars", "day"]
    assert corpus.schema(kept).types == [pa.string()] * 4
    typed = corpus.typed(kept)
    kinds = [pa.string(), pa.string(), pa.int64(), pa.date32()]
    assert typed.schema(kept).types == kinds
    (batch,) = typed.batches(kept)
    assert batch.schema.types == kinds
    assert batch.column("id").to_pylist() == ["007", "8"]
    assert batch.column("stars").to_pylist() == [5, None]
    assert [d for chunk in typed for d in chunk.to_pylist()] == ["a", "b"]
    assert typed.schema(["day"]).types == [pa.string(), pa.date32()]


def test_the_text_itself_is_text_whatever_it_looks_like(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,stars\n1,2\n")
    typed = read_corpus(path).typed(["text", "stars"])
    assert typed.schema(["text", "stars"]).types == [pa.string(), pa.int64()]


def test_the_last_of_many_rows_and_files_can_make_a_column_text(tmp_path):
    rows = "".join(f"quiet room by the sea,{i}\n" for i in range(200_000))
    (tmp_path / "a.csv").write_text("text,number\n" + rows)
    corpus = read_corpus(tmp_path)
    assert corpus.typed(["number"]).schema(["number"]).types[1] == pa.int64()
    (tmp_path / "b.csv").write_text("text;number\nx;n/a?\n")
    corpus = read_corpus(tmp_path)
    assert corpus.typed(["number"]).schema(["number"]).types[1] == pa.string()


def test_json_lines_have_types_too_and_parquet_keeps_its_own(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a", "n": 1, "b": true, "o": {}}\n{"text": "b", "n": 2.5, "o": []}\n')
    kept = ["n", "b", "o"]
    corpus = read_corpus(path).typed(kept)
    assert corpus.schema(kept).types[1:] == [pa.float64(), pa.bool_(), pa.string()]
    (batch,) = corpus.batches(kept)
    assert batch.column("b").to_pylist() == [True, None]
    pq.write_table(pa.table({"text": ["a"], "n": ["1"]}), tmp_path / "a.parquet")
    corpus = read_corpus(tmp_path / "a.parquet")
    assert corpus.typed(["n"]) is corpus
    memory = read_corpus(pa.table({"text": ["a"], "n": ["1"]}))
    assert memory.typed(["n"]) is memory


def test_an_unknown_column_is_an_error_before_anything_is_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,number\na,1\n")
    with pytest.raises(CorpusError, match=r"no column 'numbers'; .*did you mean 'number'"):
        read_corpus(path).typed(["numbers"])


def test_a_file_that_changes_after_its_types_were_found_is_an_error(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,number\na,1\n")
    corpus = read_corpus(path).typed(["number"])
    path.write_text("text,number\na,x\n")
    with pytest.raises(
        CorpusError, match="column 'number' is no int64, as all were before: the file has changed"
    ):
        list(corpus.batches(["number"]))
