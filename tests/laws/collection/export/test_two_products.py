"""Two inner products of exported vectors are the score, whatever came and went."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import deltavec as dv

FORMS = [stem + end for stem in ("flow", "wing", "plate", "layer") for end in ("", "s", "ed")]
CORPUS = [f"{a} {b} near the {a}s" for a in FORMS for b in FORMS[:7]] * 2
MODEL = dv.fit(CORPUS)
WORDS = [*FORMS, "the", "new", "a", "flowing", "zzz", "unheard", "unheards"]

texts = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)
some = st.dictionaries(st.sampled_from([f"d{n}" for n in range(12)]), texts, max_size=6)


def table(documents: dict[str, str]) -> pa.Table:
    return pa.table({"text": list(documents.values()), "name": list(documents)})


def read(folder: Path) -> tuple[list[str], sparse.csr_array, np.ndarray]:
    """The exported ids, sparse and dense vectors, read by pyarrow and nothing of ours."""
    rows = pq.read_table(folder / "documents.parquet").combine_chunks()
    lists = rows["terms"].chunk(0), rows["impacts"].chunk(0)
    terms, impacts = (one.flatten().to_numpy() for one in lists)
    words = sparse.csr_array((impacts.astype(float), terms, np.asarray(lists[0].offsets)))
    dense = rows["dense"].chunk(0).flatten().to_numpy().reshape(len(rows), -1)
    return rows["id"].to_pylist(), words, dense.astype(float)


@settings(max_examples=20, deadline=None)  # each writes a collection and an export
@given(some, some, st.sets(st.sampled_from([f"c{n}" for n in range(60)]), max_size=5), texts)
def test_two_inner_products_are_the_score(
    built: dict[str, str], added: dict[str, str], removed: set[str], query: str
) -> None:
    first = {f"c{n}": text for n, text in enumerate(CORPUS[:60])} | built
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        live = dv.build_collection(MODEL, table(first), folder / "live.idx", id_column="name")
        live.export(folder / "out")
        before = dv.load_query_encoder(folder / "out" / "encoder")
        if added:
            live = live.add(table(added), update=True)
        if removed:
            live = live.remove(sorted(removed), purge=len(removed) > 3)
        live.export(folder / "out")
        encoder = dv.load_query_encoder(folder / "out" / "encoder")
        ids, words, dense = read(folder / "out")
        assert ids == live.ids.to_pylist()
        for by in ("hybrid", "keyword", "semantic"):
            asked = encoder.query(query, by=by)
            w = np.zeros(max(words.shape[1], encoder.terms))
            w[asked.terms] = asked.weights
            scores = words @ w[: words.shape[1]] + dense @ asked.vector.astype(float)
            hits = live.search(query, k=len(ids), by=by)
            places = [ids.index(hit.id) for hit in hits]
            assert np.allclose([hit.score for hit in hits], scores[places], rtol=0, atol=1e-5)
            left = np.delete(scores, places)
            assert not len(left) or not hits or left.max() < 1e-5 or by == "semantic"
        # Why, and a document by itself, need neither the collection nor its documents.
        one = ids[0]
        asked = encoder.query(query)
        told, expected = asked.why(live.text(one)), live.why(query, one)
        assert np.isclose(told.score, expected.score, atol=1e-5)
        assert told.matched == expected.matched
        for ours, theirs in zip(told.words, expected.words, strict=True):
            assert np.isclose(ours.share, theirs.share, atol=1e-5)
        document = encoder.document(live.text(one))
        assert np.array_equal(document.terms, words[[0]].indices)
        assert np.allclose(document.impacts, words[[0]].data, rtol=1e-6)
        # A word keeps its id from export to export.
        known = before.statistics.words.vocabulary.words
        old = before.statistics.words.terms_of(known)
        new = encoder.statistics.words.terms_of(known)
        assert (old[new >= 0] == new[new >= 0]).all()
