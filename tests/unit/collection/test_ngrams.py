"""A collection whose embedding counts n-grams: its index and its answers are by word."""

from __future__ import annotations

import numpy as np
import pytest

import deltavec as dv

TOWNS = ["Hafen", "Garten", "Wagen", "Becken", "Faden"]
TEXTS = [
    f"{town} und {town}s Haus am Wasser, das {other}pforte am Abend {'leise' * (n % 2)} offen"
    for n, (town, other) in enumerate((a, b) for a in TOWNS for b in TOWNS)
] * 4


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> dv.Collection:
    model = dv.fit(TEXTS, units="grams-4")
    return dv.build_collection(model, TEXTS, tmp_path_factory.mktemp("n") / "c.idx")


def test_words_and_n_grams_are_indexed_and_only_words_have_stems(collection: dv.Collection) -> None:
    index = collection.words.words
    assert {"<hafen>", "<haf", "afen"} <= set(index.words.words)
    groups = dict(zip(index.words.words, index.groups.tolist(), strict=True))
    grams = [word for word in groups if not word.startswith("<") or not word.endswith(">")]
    assert len({groups[gram] for gram in grams}) == len(grams)
    assert ["hafen", "hafens"] in index.forms(50)


@pytest.mark.parametrize("by", ["hybrid", "keyword", "semantic"])
def test_shares_of_words_add_up_to_the_score(collection: dv.Collection, by: str) -> None:
    query = "Hafenbecken im Garten"
    hit = collection.search(query, 1, by=by)[0]
    why = collection.why(query, hit.id, by=by)
    assert {word.word for word in why.words} <= {"hafenbecken", "im", "garten"}
    total = sum(word.share for word in why.words) + why.center
    assert why.score == pytest.approx(total) == pytest.approx(hit.score, abs=1e-5)


def test_a_part_of_a_compound_is_found_by_keyword(collection: dv.Collection) -> None:
    hits = collection.search("Hafenpforte", 8, by="keyword")
    assert len(hits) == 8
    assert all("Hafenpforte" in hit.text for hit in hits)
    assert "pforte" not in collection.why("Hafenpforte", hits[0].id).matched


def test_operators_are_by_word_in_any_form(collection: dv.Collection) -> None:
    for hit in collection.search("Garten -Hafens", 50):
        assert not {"hafen", "hafens"} & set(hit.text.lower().split())
    for hit in collection.search('Garten "Hafens"', 50):
        assert "Hafens" in hit.text.split()


def test_parts_are_each_divided_by_their_own_deviation(collection: dv.Collection) -> None:
    index, units = collection.words.words, ["<hafen>", "<haf", "afen"]
    whole = index.query(units[:1])
    grams = index.query(units[1:])
    both = index.query(units, ngrams=True)
    weights = dict(zip(both.terms.tolist(), both.weights.tolist(), strict=True))
    for part in (whole, grams):
        assert np.allclose([weights[term] for term in part.terms.tolist()], part.weights)


def test_topics_have_words_for_names(collection: dv.Collection) -> None:
    names = [name for words in collection.cluster(3).names for name in words]
    assert names
    assert {"wasser", "haus", "abend", *map(str.lower, TOWNS)} & set(names)
    assert not [name for name in names if set(name) & set("<>")]
