"""However documents come into a collection, it is the same collection."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import deltavec as dv
from deltavec.search.matrix import length_error

VECTORS = dv.WordVectors(["sea", "room", "quiet"], [[1, 0], [0, 1], [0.6, 0.8]])
MODEL = dv.fit(["sea sea", "quiet room", "room"], VECTORS, "idf-delta")
texts = st.lists(st.text(alphabet="sea room quiet\n\0é", max_size=20), min_size=1, max_size=6)


@settings(max_examples=15)  # each waits for the disk a few dozen times
@given(st.lists(texts, min_size=1, max_size=5))
def test_adding_bit_by_bit_is_building_at_once(parts: list[list[str]]) -> None:
    everything = [text for part in parts for text in part]
    with tempfile.TemporaryDirectory() as folder:
        whole = dv.build_collection(MODEL, everything, Path(folder, "whole.idx"))
        grown = dv.build_collection(MODEL, parts[0], Path(folder, "grown.idx"))
        for part in parts[1:]:
            grown = grown.add(part)
        grown = dv.open_collection(grown.path)
        assert grown.ids.equals(whole.ids)
        assert grown.column("text").to_pylist() == whole.column("text").to_pylist() == everything
        assert np.array_equal(grown.index.vectors, whole.index.vectors)
        assert np.array_equal(whole.index.vectors, MODEL.embed(everything))
        assert grown.description.zero_rows == whole.description.zero_rows
        measured = length_error(whole.index.vectors, "vectors")
        assert grown.description.length_error == whole.description.length_error == measured
        total = grown.description.built + grown.description.added
        assert total == whole.description.built
        assert grown.search("quiet sea", k=9) == whole.search("quiet sea", k=9)


@settings(max_examples=15)
@given(texts, st.sampled_from(["words", "whitespace"]))
def test_words_of_a_first_pass_are_those_of_the_documents_stored(
    everything: list[str], tokenizer: str
) -> None:
    """Read twice, the words are taken in at first; read once, with the vectors."""
    model = dv.fit(["sea sea", "quiet room"], VECTORS, "idf-sum-pca", tokenizer=tokenizer)
    with tempfile.TemporaryDirectory() as folder:
        twice = dv.build_collection(model, [*everything, "sea"], Path(folder, "twice.idx"))
        once = dv.build_collection(
            twice.model, [*everything, "sea"], Path(folder, "once.idx"), as_collection=False
        )
        ours, theirs = (one.description.segments[0].words for one in (once, twice))
        assert ours.sha256 == theirs.sha256
        assert np.array_equal(once.index.vectors, twice.index.vectors)


FORMS = [stem + end for stem in ("flow", "wing", "plate", "layer") for end in ("", "s", "ed")]
CORPUS = [f"{a} {b} near the {a}s" for a in FORMS for b in FORMS[:7]] * 2
LEARNED = dv.fit(CORPUS)
documents = st.lists(
    st.lists(st.sampled_from([*FORMS, "the", "new", "a", "flowing"]), max_size=8).map(" ".join),
    min_size=1,
    max_size=8,
)


@settings(max_examples=15)
@given(documents, documents, documents.map(" ".join))
def test_shares_of_the_words_add_up_to_the_score(
    built: list[str], added: list[str], query: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        collection = dv.build_collection(LEARNED, [*CORPUS[:60], *built], Path(folder, "c.idx"))
        assert collection.info()["words"]["rules"] > 0
        collection = collection.add(added)
        for by in ("hybrid", "keyword", "semantic"):
            for one in collection.search(query, k=5, by=by):
                why = collection.why(query, one.id, by=by)
                assert abs(why.score - one.score) <= 1e-5
                assert abs(sum(word.share for word in why.words) + why.center - one.score) <= 1e-5
