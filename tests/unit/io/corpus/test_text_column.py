import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deltavec.errors import CorpusError
from deltavec.io.corpus.corpus import open_corpus, read_corpus
from deltavec.io.corpus.files import Reading

PROSE = "the room was quiet and the harbour near, we slept well"
TITLE = "a quiet room by the sea"
URL = "https://example.org/hotels/reviews/123456789"


def documents(corpus):
    return [document for chunk in corpus for document in chunk.to_pylist()]


def table(path, **columns):
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join("\t".join(row) for row in [[*columns], *rows]), encoding="utf-8")
    return path


def test_the_only_column_of_long_text_is_taken_and_told(tmp_path):
    path = table(tmp_path / "a.csv", id=["1"], city=["Rome"], link=[URL], Review=[PROSE])
    corpus = read_corpus(path)
    assert corpus.column == "Review"
    told = "the text is taken from the column 'Review'; --column names another"
    assert corpus.note == f"{path}: {told}"
    assert documents(corpus) == [PROSE]


def test_a_column_called_text_is_taken_without_a_word(tmp_path):
    corpus = read_corpus(table(tmp_path / "a.csv", text=["a"], Review=[PROSE]))
    assert (corpus.column, corpus.note) == ("text", None)


def test_the_only_column_is_taken_however_short(tmp_path):
    assert read_corpus(table(tmp_path / "a.csv", word=["sea"])).column == "word"


def test_a_text_beside_its_title_is_taken_if_it_is_far_longer(tmp_path):
    path = table(tmp_path / "a.csv", title=[TITLE], body=[PROSE * 3])
    assert read_corpus(path).column == "body"
    path = table(tmp_path / "b.csv", title=[TITLE], body=[PROSE])
    with pytest.raises(CorpusError, match=r"\('body', 'title' do\).*--column"):
        read_corpus(path)


@pytest.mark.parametrize("value", ["Rome", URL, '{"a": "some long object in json"}', ""])
def test_what_is_no_prose_is_not_taken(tmp_path, value):
    path = table(tmp_path / "a.csv", id=["1"], value=[value])
    with pytest.raises(CorpusError, match=r"no column 'text'.*columns are 'id', 'value'.*--column"):
        read_corpus(path)


def test_text_without_spaces_is_prose_too(tmp_path):
    path = table(
        tmp_path / "a.csv", id=["1"], body=["部屋は静かで港に近く、よく眠れました。とても良い"]
    )
    assert read_corpus(path).column == "body"


def test_a_chinese_character_says_more_than_a_letter(tmp_path):
    path = table(
        tmp_path / "a.csv", 日期=["2024-01-05"], 城市=["北京"], 评论=["房间很干净，早餐丰富"]
    )
    assert read_corpus(path).column == "评论"


def test_every_format_with_columns_is_looked_at(tmp_path):
    rows = [{"id": i, "rating": 5, "meta": {"k": PROSE}, "body": PROSE} for i in range(3)]
    lines = tmp_path / "a.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    stored = tmp_path / "a.parquet"
    kinds = {"body": pa.array([PROSE] * 3).dictionary_encode(), "rating": [5] * 3}
    pq.write_table(pa.table(kinds), stored)
    for path in (lines, stored):
        corpus = read_corpus(path)
        assert corpus.column == "body"
        assert documents(corpus) == [PROSE] * 3


def test_a_file_without_rows_shows_nothing_to_go_by(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("id,body\n")
    with pytest.raises(CorpusError, match="no column 'text'"):
        read_corpus(path)


def test_the_column_of_earlier_documents_comes_first_and_is_no_condition(tmp_path):
    path = table(tmp_path / "a.csv", text=["a"], body=["b"])
    for expected, column in (("body", "body"), ("other", "text"), (None, "text")):
        corpus = open_corpus(path, Reading(expected=expected))
        assert (corpus.column, corpus.note) == (column, None)
    lines = tmp_path / "a.txt"
    lines.write_text("one")
    assert documents(open_corpus(lines, Reading(expected="body"))) == ["one"]


def test_a_column_of_a_text_file_is_refused(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\n")
    with pytest.raises(CorpusError, match=r"a\.txt: read as txt.*no column 'body'.*--format csv"):
        read_corpus(path, column="body")
    assert documents(read_corpus(path, column="text")) == ["one"]
    table(tmp_path / "b.csv", id=["1"], body=["two"])
    assert documents(read_corpus(tmp_path, column="body")) == ["one", "two"]


def test_a_column_of_standard_input_read_as_lines_is_refused():
    with pytest.raises(CorpusError, match=r"standard input: read as txt.*--format csv"):
        read_corpus("-", column="body")
