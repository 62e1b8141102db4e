"""Titles go before the texts: when a collection is built, added to and built anew."""

from pathlib import Path

import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.errors import InputError

TEXTS = ["the sea was quiet", "a room by the sea", "the town hall", None]
TITLES = ["A storm", None, "", "Only a title"]
JOINED = ["A storm\nthe sea was quiet", "a room by the sea", "the town hall", "Only a title"]
CORPUS = pa.table({"text": TEXTS, "heading": TITLES, "n": [1, 2, 3, 4]})


@pytest.fixture
def model() -> dv.EmbeddingModel:
    words = ["storm", "sea", "room", "town", "quiet", "title"]
    vectors = dv.WordVectors(
        words, [[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0], [1, 1, 1]]
    )
    return dv.fit([text for text in JOINED if text], vectors, "idf-sum")


def build(model: dv.EmbeddingModel, path: Path, **how: object) -> dv.Collection:
    return dv.build_collection(model, dv.read_corpus(CORPUS, column="text"), path, **how)


@pytest.mark.parametrize("keep", [(), ("heading",)])
def test_a_title_is_the_first_line_of_its_text(model, tmp_path, keep):
    titled = build(model, tmp_path / "a.idx", title="heading", keep=keep)
    joined = dv.build_collection(model, JOINED, tmp_path / "b.idx")
    assert titled.column("text").to_pylist() == JOINED
    for query in ("storm", "quiet sea", "title"):
        found, expected = titled.search(query), joined.search(query)
        assert [(o.id, o.score, o.text) for o in found] == [
            (o.id, o.score, o.text) for o in expected
        ]


@pytest.mark.parametrize("keep", [(), ("heading",)])
def test_documents_that_are_added_and_a_refit_keep_titles(tmp_path, keep):
    model = dv.fit([text for text in JOINED * 5 if text])
    titled = build(model, tmp_path / "a.idx", title="heading", keep=keep)
    more = titled.add(dv.read_corpus(CORPUS.slice(0, 1), column="text"))
    assert more.text(4) == JOINED[0]
    again = more.refit()
    assert again.column("text").to_pylist() == [*JOINED, JOINED[0]]
    assert again.add(dv.read_corpus(CORPUS.slice(0, 1), column="text")).text(5) == JOINED[0]


@pytest.mark.parametrize("title", ["n", "text", "missing"])
def test_a_title_column_must_hold_text(model, tmp_path, title):
    with pytest.raises(InputError, match=title):
        build(model, tmp_path / "a.idx", title=title)
