"""Several collections answer as one collection of all their documents."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deltavec as dv

FORMS = [stem + end for stem in ("flow", "wing", "plate", "layer") for end in ("", "s", "ed")]
CORPUS = [f"{a} {b} near the {a}s" for a in FORMS for b in FORMS[:7]] * 2
MODEL = dv.fit(CORPUS)
WORDS = [*FORMS, "the", "new", "a", "zzz"]

texts = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)


def table(documents: list[str], first: int = 0) -> pa.Table:
    names = [f"d{first + n}" for n in range(len(documents))]
    return pa.table(
        {"text": documents, "name": names, "even": [n % 2 == 0 for n in range(len(documents))]}
    )


def same(shards: object, whole: dv.Collection, query: str) -> None:
    for by in ("hybrid", "keyword", "semantic"):
        for asked in (query, f"{query} -wings"):
            ours, theirs = shards.search(asked, k=20, by=by), whole.search(asked, k=20, by=by)
            assert np.allclose([h.score for h in ours], [h.score for h in theirs], atol=1e-6)
            scores = {h.id: h.score for h in whole.search(asked, k=999, by=by)}
            assert np.allclose([scores[h.id] for h in ours], [h.score for h in theirs], atol=1e-6)


@settings(max_examples=12, deadline=None)  # each builds three collections
@given(st.lists(texts, min_size=2, max_size=30), st.integers(1, 29), texts, st.booleans())
def test_two_shards_are_one_collection(
    documents: list[str], cut: int, query: str, stems: bool
) -> None:
    documents = [*documents, *CORPUS[:60]]
    cut = min(cut, len(documents) - 1)
    how = {"id_column": "name", "keep": ["even"], "as_collection": False, "stems": stems}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = dv.build_collection(MODEL, table(documents), folder / "all.idx", **how)
        if stems:  # the stems of one collection, in both parts
            ids = whole.ids.to_pylist()
            for part, gone in (("a", ids[cut:]), ("b", ids[:cut])):
                whole.backup(folder / f"{part}.idx")
                dv.open_collection(folder / f"{part}.idx").remove(gone, purge=part == "b")
        else:
            dv.build_collection(MODEL, table(documents[:cut]), folder / "a.idx", **how)
            dv.build_collection(MODEL, table(documents[cut:], cut), folder / "b.idx", **how)
        shards = dv.open_collections([folder / "a.idx", folder / "b.idx"])
        assert len(shards) == len(whole)
        same(shards, whole, query)
        last = f"d{len(documents) - 1}"
        ours, theirs = shards.why(query, last), whole.why(query, last)
        assert np.isclose(ours.score, theirs.score, atol=1e-6)
        assert {w.word: round(w.share, 5) for w in ours.words} == {
            w.word: round(w.share, 5) for w in theirs.words
        }


def test_other_models_and_ids_that_are_not_there_are_refused(tmp_path: Path) -> None:
    a = dv.build_collection(MODEL, CORPUS[:20], tmp_path / "a.idx", as_collection=False)
    b = dv.build_collection(MODEL, CORPUS[20:60], tmp_path / "b.idx")
    with pytest.raises(dv.InputError, match="has another model than"):
        dv.merge_statistics([a, b])
    with pytest.raises(dv.InputError, match="at least one collection"):
        dv.merge_statistics([])
    alone = dv.open_collections([tmp_path / "a.idx"])
    assert repr(alone) == "Shards(1 collections, 20 documents)"
    with pytest.raises(dv.InputError, match="has the id 'nope'"):
        alone.why("wing", "nope")
    merged = dv.merge_statistics([a, a])
    assert merged.documents == 40
    assert merged.spread.rows == 40
