"""Search by words, by meaning and by both, and why a document was found."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import deltavec as dv
from deltavec.collection.answers import Hit
from support import lexical_reference

TEXTS = [
    "the storm flooded the town",
    "a storm at sea",
    "the town hall and the town square",
    "quiet sea and a quiet beach",
    "floods in the north of the town",
    "",
    "the the the",
]
VECTORS = dv.WordVectors(
    ["storm", "flooded", "floods", "sea", "beach", "town", "the"],
    [[1, 0.2, 0], [0.9, 0.3, 0], [0.9, 0.2, 0.1], [0.2, 1, 0], [0, 1, 0.1], [0, 0, 1], [1, 1, 1]],
)


@pytest.fixture
def collection(tmp_path: Path) -> dv.Collection:
    return dv.build_collection(dv.fit(TEXTS, VECTORS, "idf-sum"), TEXTS, tmp_path / "c.idx")


def ids(found: list[Hit]) -> list[str]:
    return [one.id for one in found]


def expected(collection: dv.Collection, query: str) -> list[float]:
    model = collection.model
    U, u = collection.index.vectors.astype(np.float64), model.embed([query])[0].astype(np.float64)
    words = [model.words(text) for text in TEXTS]
    return lexical_reference.scores(words, str, model.words(query), U, u)


@pytest.mark.parametrize("query", ["storm", "a storm in the town", "hall sea sea"])
def test_both_is_the_sum_of_the_reference(collection: dv.Collection, query: str) -> None:
    scores = expected(collection, query)
    found = collection.search(query, k=7)
    assert [one.score for one in found] == pytest.approx(sorted(scores, reverse=True), abs=1e-5)
    assert all(one.score == pytest.approx(scores[int(one.id)], abs=1e-5) for one in found)


def test_a_word_without_a_vector_is_found_where_it_stands(collection: dv.Collection) -> None:
    assert ids(collection.search("quiet")) == ["3"]


def test_words_finds_only_documents_that_hold_one(collection: dv.Collection) -> None:
    assert set(ids(collection.search("storm", by="keyword"))) == {"0", "1"}
    assert collection.search("hall", by="keyword")[0].id == "2"  # no vector, and found


def test_meaning_is_the_cosine(collection: dv.Collection) -> None:
    vector = collection.model.embed(["storm"])[0]
    for one in collection.search("storm", by="semantic"):
        assert one.score == pytest.approx(float(collection.index.vectors[int(one.id)] @ vector))


def test_a_word_with_a_hyphen_before_it_must_not_be_there(collection: dv.Collection) -> None:
    assert "0" not in ids(collection.search("storm -town", k=7))
    assert "0" in ids(collection.search("storm - town", k=7))
    assert "0" in ids(collection.search([["storm", "-town"]], k=7)[0])
    assert "0" in ids(collection.search("storm -town", k=7, by="semantic"))
    assert collection.search("-town") == []


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ('"FLOODED"', {"0"}),
        ('town "storm"', {"0", "1"}),
        ('"town" -storm', {"2", "4"}),
        ('"quiet" "beach"', {"3"}),
        ('"a" storm', {"1", "3"}),  # one letter has no postings, and is looked for in the text
        ('"nowhere" storm', set()),
    ],
)
def test_a_word_between_quotation_marks_is_there_as_written(
    collection: dv.Collection, query: str, found: set[str]
) -> None:
    assert set(ids(collection.search(query))) == found


def test_other_quotation_marks_mean_nothing(collection: dv.Collection) -> None:
    prose = 'which of the storms at sea were called "nowhere" storms'
    for query in ('sea "" "', '"the sea"', prose, '"sea" storm'):
        by = "semantic" if query == '"sea" storm' else "hybrid"
        plain = query.replace('"', " ")
        assert collection.search(query, by=by) == collection.search(plain, by=by)


def test_a_quoted_word_is_looked_for_in_as_many_documents_as_it_takes(tmp_path: Path) -> None:
    nouns = ["storm", "room", "pillow", "window", "towel", "lamp"]
    texts = [f"{noun} {noun} {noun}s" for noun in nouns] + ["storm storm"] * 50 + ["the storms"] * 2
    rows = np.repeat(np.eye(6, dtype=np.float32), 2, axis=0)
    vectors = dv.WordVectors([noun + ending for noun in nouns for ending in ("", "s")], rows)
    built = dv.build_collection(dv.fit(texts, vectors, "idf-sum"), texts, tmp_path / "c.idx")
    assert len(built.search("storms", k=60, by="keyword")) == 53
    assert set(ids(built.search('"storms"', k=3))) == {"0", "56", "57"}
    assert len(built.search('"storm"', k=10)) == 10


def test_a_query_has_a_bounded_number_of_terms(tmp_path: Path) -> None:
    many = " ".join(f"w{n}" for n in range(2_000))
    texts = ["storm sea", "storm", many]
    built = dv.build_collection(dv.fit(texts, VECTORS, "idf-sum"), texts, tmp_path / "c.idx")
    assert ids(built.search("storm " + "-sea " * 2_000, by="keyword")) == ["1"]
    with pytest.raises(dv.InputError, match="1,024 different terms of the collection, got 2,000"):
        built.search(many)
    with pytest.raises(dv.InputError, match="got 1,101"):
        built.search("storm " + " ".join(f"-x{n}" for n in range(1_100)))
    assert built.search(many, by="semantic") == []


def test_filters_hold_for_words_too(tmp_path: Path) -> None:
    import pyarrow as pa

    table = pa.table({"text": TEXTS, "n": range(7)})
    built = dv.build_collection(
        dv.fit(TEXTS, VECTORS, "idf-sum"), table, tmp_path / "f", keep=["n"]
    )
    assert ids(built.search("storm", filter="n > 0", by="keyword")) == ["1"]
    assert built.search("storm", filter="n > 5", by="keyword") == []
    assert len(built.search("storm", k=9, filter="n > 3")) == 3


@pytest.mark.parametrize("query", ["", "?!", "unheard zzz", [], "a b c"])
@pytest.mark.parametrize("by", ["hybrid", "keyword", "semantic"])
def test_a_query_without_known_words_finds_nothing(
    collection: dv.Collection, query: str, by: str
) -> None:
    assert collection.search(query, by=by) == []
    why = collection.why(query, "0", by=by)
    assert (why.score, why.words, why.matched, why.near) == (0, (), (), ())


def test_words_that_say_nothing_find_something(collection: dv.Collection) -> None:
    assert collection.search("the", by="keyword")[0].id == "6"


def test_a_query_of_a_hundred_thousand_words(collection: dv.Collection) -> None:
    query = " ".join(f"storm w{number}" for number in range(50_000))
    assert collection.search(query, k=1)[0].id == "1"


@pytest.mark.parametrize("by", ["hybrid", "keyword", "semantic"])
def test_shares_add_up_to_the_score(collection: dv.Collection, by: str) -> None:
    query = "the storm, floods and a quiet unheard town"
    for one in collection.search(query, k=7, by=by):
        why = collection.why(query, one.id, by=by)
        assert why.by == by
        assert why.score == pytest.approx(one.score, abs=1e-5)
        assert sum(word.share for word in why.words) + why.center == pytest.approx(why.score)
        assert why.unknown[-1] == "unheard"
        held = set(collection.model.words(one.text))
        assert set(why.matched) <= held
        if by != "keyword":
            assert {pair.word_b for pair in why.near} <= held - set(why.matched)


def test_one_way_or_another(collection: dv.Collection) -> None:
    with pytest.raises(
        dv.InputError, match="by must be one of hybrid, keyword, semantic, got 'sound'"
    ):
        collection.search("storm", by="sound")
    with pytest.raises(dv.InputError, match="a text or a list of words, got int"):
        collection.search(3)


def test_words_of_added_documents_are_found(collection: dv.Collection) -> None:
    grown = collection.add(["a hurricane", "hurricanes and the storm"])
    assert ids(grown.search("hurricane", by="keyword")) == ["7"]
    assert grown.search("hurricanes storm", k=1)[0].id == "8"
    assert grown.why("hurricanes", "8").score == pytest.approx(
        grown.search("hurricanes", k=1)[0].score, abs=1e-5
    )


def test_function_words_have_no_other_forms(tmp_path: Path) -> None:
    pairs = [(noun, noun + "in") for noun in ("with", "room", "pillow", "window", "towel", "lamp")]
    rows = [*np.repeat(np.eye(7)[:6], 2, axis=0), *np.eye(7)[[6] * 6]]
    others = ["the", "and", "of", "it", "this", "that"]
    vectors = dv.WordVectors([*(word for pair in pairs for word in pair), *others], rows)
    texts = [f"the {a} and the {b} of it" for pair in pairs for a, b in (pair, pair[::-1])]
    texts += ["with this and that", "within this and that", "room for the two", "roomin for us"]
    built = dv.build_collection(dv.fit(texts, vectors, "idf-sum"), texts, tmp_path / "c.idx")
    assert {"14", "15"} <= set(ids(built.search("room", by="keyword", k=20)))
    assert "13" not in ids(built.search("with", by="keyword", k=20))
    assert "12" not in ids(built.search("within", by="keyword", k=20))


def test_stems_can_be_left_out(tmp_path: Path) -> None:
    stems = ["flow", "wing", "plate", "layer"]
    texts = [f"{stem}{end} {stem} near {stem}s" for stem in stems for end in ("", "s")] * 3
    model = dv.fit(texts)
    for wanted in (True, False):
        built = dv.build_collection(model, texts, tmp_path / "c.idx", stems=wanted)
        facts = built.info()["words"]
        assert facts["words"] == 9
        assert (facts["rules"] > 0) <= wanted
        assert facts["stems"] == (9 if not facts["rules"] else 5)


def test_scripts_without_spaces_are_found_by_their_characters(tmp_path: Path) -> None:
    texts = ["今日は良い天気です", "明日は雨です", "天気予報を見る", "a storm"] * 3
    built = dv.build_collection(dv.fit(texts), texts, tmp_path / "c.idx")
    assert set(ids(built.search("天気", k=6, by="keyword"))) == {"0", "2", "4", "6", "8", "10"}
    why = built.why("天気", "2")
    scores = {one.id: one.score for one in built.search("天気", k=12)}
    assert why.score == pytest.approx(scores["2"], abs=1e-5)
    assert {"天", "気"} <= set(why.matched)
    assert sum(word.share for word in why.words) + why.center == pytest.approx(why.score)
    assert "2" not in ids(built.search("天 -天気", k=12))


def test_an_act_is_found_by_the_word_for_doing_it_and_explained(tmp_path: Path) -> None:
    stems = ["implement", "document", "present", "transform", "invit", "plant"]
    ends = ["", "ation", "ations"]
    words = [stem + end for stem in stems for end in ends]
    vectors = dv.WordVectors(words, np.repeat(np.eye(len(stems)), len(ends), axis=0))
    built = dv.build_collection(dv.fit(words, vectors, "unit-sum"), words, tmp_path / "c.idx")
    found = built.search("implementations", by="keyword")
    assert {words[int(one.id)] for one in found} == {"implement" + end for end in ends}
    for one in built.search("implementations planted", k=3):
        why = built.why("implementations planted", one.id)
        assert sum(word.share for word in why.words) + why.center == pytest.approx(
            one.score, abs=1e-5
        )


def test_a_semantic_query_counts_words_by_burstiness_and_weak_directions_more(tmp_path):
    texts = [f"{a} and the {b} by the {c}" for a in ["sea", "bay", "tide"] for b in
             ["lamp", "bed", "room"] for c in ["storm", "wind", "rain", "sea"]]  # fmt: skip
    found = dv.build_collection(dv.fit(texts, units="words"), texts, tmp_path / "s.idx")
    model, query = found.model, "the sea the storm xyz"
    index = found.words.words
    total, amount = np.zeros(model.dimensions), 0.0
    for word in query.split()[:-1]:
        [weight] = index.burstiness_of([word])
        total += weight * model.table.rows[model.vocabulary.ids([word])[0]]
        amount += weight
    vector = (total / amount - model.table.offset) * model.table.direction_weights**-0.5
    parsed = found.query(query, by="semantic")
    assert np.allclose(parsed.vector, vector / np.linalg.norm(vector))
    best = found.search(query, by="semantic")[0]
    why = found.why(query, best.id, by="semantic")
    assert sum(word.share for word in why.words) + why.center == pytest.approx(best.score, abs=1e-6)
    # Hybrid search and similar documents have the weights of documents.
    assert np.allclose(found.query(query).vector, model.embed([query])[0], atol=1e-6)
