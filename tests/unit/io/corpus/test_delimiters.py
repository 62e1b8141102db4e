import pytest

from deltavec.errors import CorpusError
from deltavec.io.corpus.corpus import read_corpus
from deltavec.io.corpus.readers import find_delimiter


def documents(corpus):
    return [document for chunk in corpus for document in chunk.to_pylist()]


def written(path, text):
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_the_usual_delimiters_are_found(tmp_path, delimiter, suffix):
    rows = [["id", "text"], ["1", "a quiet room"], ["2", "by the sea"]]
    path = written(tmp_path / f"a.{suffix}", "\n".join(map(delimiter.join, rows)))
    corpus = read_corpus(path)
    assert corpus.columns == ["id", "text"]
    assert documents(corpus) == ["a quiet room", "by the sea"]


@pytest.mark.parametrize(
    ("head", "delimiter"),
    [
        (b"text\none, two; three\n", ","),  # one column: nothing to part
        (b"id;text\n1;one, two, three\n", ";"),
        (b"id;name, first name;text\n1;a, b;c\n2;d, e;f\n", ";"),  # more fields, all alike
        (b"id,text;more\n1,a\n2,b\n", ","),  # the rows have no semicolon
        (b'"a;b;c",text\n"x;y;z",t\n', ","),
        (b"a|b|c\n1|2|3\n", "|"),
        (b'id;text\n1;"two\nlines; quoted"\n2;x\n', ";"),
        (b"\n\nid;text\n1;x\n", ";"),
        (b"sep=|\nid|text,more\n", "|"),
        (b'"sep=;"\r\nid,text\r\n', ";"),
        (b"id;text\n1;a\n2;b;c\n3;d\n", ";"),  # a row that does not fit will be named
        (b"", ","),
        (b'id;"text', ";"),
    ],
)
def test_a_delimiter_is_in_the_header_and_parts_the_rows_alike(head, delimiter):
    assert find_delimiter(head, ",") == delimiter


def test_the_line_that_excel_puts_first_is_no_row(tmp_path):
    path = written(tmp_path / "a.csv", "sep=;\r\nid;text\r\n1;one, two\r\n")
    assert documents(read_corpus(path)) == ["one, two"]


def test_a_delimiter_that_is_given_is_used(tmp_path):
    path = written(tmp_path / "a.csv", "id^text\n1^a,b;c\n")
    assert documents(read_corpus(path, delimiter="^")) == ["a,b;c"]
    path = written(tmp_path / "b.csv", "id\ttext,x\n1\ta,b\n")
    for name in ("tab", "TAB", "\\t", "\t"):
        assert documents(read_corpus(path, column="text,x", delimiter=name)) == ["a,b"]


@pytest.mark.parametrize("given", ["", ";;", '"', "\n", "ä", "dash", 5])
def test_what_cannot_part_fields_is_refused(tmp_path, given):
    with pytest.raises(CorpusError, match="delimiter must be one character"):
        read_corpus(written(tmp_path / "a.csv", "text\na"), delimiter=given)


@pytest.mark.parametrize(("name", "content"), [("a.txt", "one"), ("a.jsonl", '{"text": "a"}')])
def test_a_delimiter_for_what_has_no_fields_is_refused(tmp_path, name, content):
    path = written(tmp_path / name, content)
    with pytest.raises(CorpusError, match=r"delimiter \(--delimiter\) is for csv, tsv, this is"):
        read_corpus(path, delimiter=";")
    with pytest.raises(CorpusError, match="delimiter is for files"):
        read_corpus(["a"], delimiter=";")


def test_each_file_of_a_folder_has_its_own_delimiter(tmp_path):
    written(tmp_path / "a.csv", "id,text\n1,a\n")
    written(tmp_path / "b.csv", "id;text\n2;b\n")
    written(tmp_path / "c.txt", "c\n")
    assert documents(read_corpus(tmp_path)) == ["a", "b", "c"]


def test_a_ragged_row_names_the_delimiter(tmp_path):
    path = written(tmp_path / "a.csv", "id;text\n1;a\n2;b;c\n")
    with pytest.raises(CorpusError, match=r"row 3.*the delimiter ';' must be quoted"):
        documents(read_corpus(path))
