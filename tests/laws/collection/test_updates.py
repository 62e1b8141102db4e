"""Whatever came, was replaced and went, the collection answers as one built of what is left."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import deltavec as dv
from deltavec.collection.collection import Collection
from deltavec.collection.segment import map_vectors
from deltavec.core.learning.vocabulary_builder import WordCounts
from deltavec.core.text.batches import as_text_batch
from deltavec.search.hybrid.score_scale import measure_scale
from deltavec.search.lexical.storage import StoredPostings, map_postings
from deltavec.search.lexical.writer import PostingsWriter

FORMS = [stem + end for stem in ("flow", "wing", "plate", "layer") for end in ("", "s", "ed")]
CORPUS = [f"{a} {b} near the {a}s" for a in FORMS for b in FORMS[:7]] * 2
MODEL = dv.fit(CORPUS)
WORDS = [*FORMS, "the", "new", "a", "flowing", "zzz", "unheard", "unheards"]

texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
some = st.dictionaries(st.sampled_from([f"d{n}" for n in range(12)]), texts, max_size=6)
changes = st.lists(st.tuples(st.sampled_from(["add", "remove"]), some), max_size=5)


def table(documents: dict[str, str]) -> pa.Table:
    return pa.table({"text": list(documents.values()), "name": list(documents)})


def words_built_afresh(collection: Collection, folder: Path) -> StoredPostings:
    """The words of the documents that are there, listed anew, with the stems that are stored."""
    stored, described = collection.words.words, collection.description
    vectors = map_vectors(collection.path, described.vectors, described.dimensions)
    with PostingsWriter(folder) as writer:
        writer.words = WordCounts.of(stored.words)
        writer.add(as_text_batch(collection.column("text").to_pylist(), MODEL.tokenizer))
        spread = measure_scale(vectors)
        sizes = writer.finish(
            folder / "fresh.words", lambda _: stored.stems, lambda: spread, vectors.shape[1]
        )
        assert writer.words.vocabulary.words == stored.words.words  # none was forgotten too soon
    with (folder / "fresh.words").open("rb") as file:
        fresh = map_postings(file, sizes, verify=True)
    single = stored.stems.groups[[len(word) == 1 for word in stored.words.words]]
    held = np.flatnonzero(np.diff(fresh.words.postings.begins))
    assert set(held) | set(single) == set(range(len(stored.stems)))  # nor too late
    return fresh


@settings(max_examples=20, deadline=None)  # each waits for the disk a few dozen times
@given(some, changes, texts)
def test_any_changes_leave_what_would_be_built(
    built: dict[str, str], changed: list[tuple[str, dict[str, str]]], query: str
) -> None:
    left = {f"c{n}": text for n, text in enumerate(CORPUS[:60])} | built
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "live.idx")
        live = dv.build_collection(MODEL, table(left), path, id_column="name", as_collection=False)
        for how, what in changed:
            if how == "add" and what:
                live = live.add(table(what), update=True)
                left = {name: text for name, text in left.items() if name not in what} | what
            else:
                live = live.remove(list(what), missing_ok=True)
                left = {name: text for name, text in left.items() if name not in what}
        live = dv.open_collection(path)
        assert live.ids.to_pylist() == list(left)
        assert live.column("text").to_pylist() == list(left.values())
        fresh = dv.build_collection(
            MODEL, table(left), Path(folder, "fresh.idx"), id_column="name", as_collection=False
        )
        assert np.array_equal(live.index.vectors, fresh.index.vectors)
        assert live.description.zero_rows == fresh.description.zero_rows
        total = live.description.built + live.description.added
        assert total == fresh.description.built
        # Stems are as they are stored: what was learned at first, and what followed those rules. A
        # form that no document has any more is known for as long as another one is held.
        words = words_built_afresh(live, Path(folder))
        fresh = Collection(path, live.description, MODEL, fresh.index, fresh.store, words)
        same_answers(live, fresh, query, next(iter(left)))


def same_answers(live: Collection, fresh: Collection, query: str, id: str) -> None:
    """Both find the same documents, with the same scores, for the same reasons."""
    for by in ("hybrid", "keyword", "semantic"):
        asked, again = live.query(query, by=by), fresh.query(query, by=by)
        assert asked.unknown == again.unknown
        ours, theirs = live.search(query, k=99, by=by), fresh.search(query, k=99, by=by)
        scores = {one.id: one.score for one in theirs}
        assert {one.id for one in ours} == set(scores)
        # Terms may be numbered in another order, and sums rounded in another.
        assert np.allclose([one.score for one in ours], [scores[one.id] for one in ours], atol=1e-6)
        why, because = live.why(query, id, by=by), fresh.why(query, id, by=by)
        assert np.isclose(why.score, because.score, atol=1e-6)
        assert set(why.matched) == set(because.matched)
        shares = {word.word: word.share for word in because.words}
        assert {word.word for word in why.words} == set(shares)
        assert all(np.isclose(word.share, shares[word.word], atol=1e-6) for word in why.words)
    assert live.similar(id, k=99) == fresh.similar(id, k=99)
