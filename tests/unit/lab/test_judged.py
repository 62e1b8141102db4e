import json

import pytest

from deltavec.errors import CorpusError
from deltavec.lab.judged import read_judged


def write(
    folder, *, documents=None, queries=None, judgements="query-id\tcorpus-id\tscore\nq\tb\t1\n"
):
    documents = documents or [{"_id": "a", "text": "sea"}, {"_id": "b", "title": "T", "text": "x"}]
    queries = queries or [{"_id": "q", "text": "what"}, {"_id": "r", "text": "unjudged"}]
    for name, records in (("corpus", documents), ("queries", queries)):
        lines = (json.dumps(record) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text("".join(lines))
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text(judgements)
    return folder


def test_a_folder_is_read(tmp_path):
    judged = read_judged(write(tmp_path, judgements="q\tb\t2\nq\ta\t0\n"))
    assert judged.ids == ["a", "b"]
    assert judged.texts == ["sea", "T. x"]
    assert judged.queries == {"q": "what"}
    assert judged.grades == {"q": {"b": 2}}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"judgements": "q\tb\n"}, "line 1: expected query-id, corpus-id"),
        ({"judgements": "q\tz\t1\n"}, "there is no document 'z'"),
        ({"judgements": "z\tb\t1\n"}, "there is no query 'z'"),
        ({"judgements": "q\tb\t0\n"}, "no document is relevant"),
        ({"documents": [{"_id": "a"}]}, "expected an object with _id and text"),
        (
            {"documents": [{"_id": "a", "text": ""}] * 2},
            "line 2: the id 'a' occurs in an earlier line",
        ),
    ],
)
def test_what_is_wrong_is_said(tmp_path, given, said):
    with pytest.raises(CorpusError, match=said):
        read_judged(write(tmp_path, **given))


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(CorpusError, match="BEIR's layout"):
        read_judged(tmp_path)
    (tmp_path / "corpus.jsonl").write_text("{")
    with pytest.raises(CorpusError, match="line 1: broken JSON"):
        read_judged(tmp_path)
