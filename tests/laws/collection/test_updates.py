"""Whatever came, was replaced and went, the collection answers as one built of what is left."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import deltavec as dv
from deltavec.collection.collection import Collection
from deltavec.core.learning.stemming import Rules
from deltavec.core.text.batches import as_text_batch
from deltavec.core.vocabulary import Vocabulary
from deltavec.search.hybrid.score_scale import ScoreScale
from deltavec.search.lexical.index import InvertedIndex
from deltavec.search.lexical.writer import PostingsWriter, StoredPostings, WordTerms, map_postings

FORMS = [stem + end for stem in ("flow", "wing", "plate", "layer") for end in ("", "s", "ed")]
CORPUS = [f"{a} {b} near the {a}s" for a in FORMS for b in FORMS[:7]] * 2
MODEL = dv.fit(CORPUS)
WORDS = [*FORMS, "the", "new", "a", "flowing", "zzz", "unheard", "unheards"]

texts = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)
some = st.dictionaries(st.sampled_from([f"d{n}" for n in range(12)]), texts, max_size=6)
kinds = st.sampled_from(["add", "remove", "purge", "compact"])
changes = st.lists(st.tuples(kinds, some), max_size=5)


def table(documents: dict[str, str]) -> pa.Table:
    return pa.table({"text": list(documents.values()), "name": list(documents)})


def words_built_afresh(collection: Collection, folder: Path) -> StoredPostings:
    """The words of the documents that are there, listed anew, with the stems that are stored."""
    stored = collection.words.words
    terms = dict(zip(stored.words.words, stored.groups.tolist(), strict=True))

    def terms_of(vocabulary: Vocabulary) -> WordTerms:
        groups = [terms[word] for word in vocabulary.words]  # none was forgotten too soon
        new = np.arange(len(vocabulary))
        return WordTerms(np.array(groups, np.int32), new, Rules.none())

    with PostingsWriter(folder) as writer:
        # A form that no document has any more is known for as long as another one is held.
        texts = as_text_batch(collection.column("text").to_pylist(), MODEL.tokenizer)
        writer.add(texts)
        sizes = writer.finish(folder / "fresh.words", terms_of)
    with (folder / "fresh.words").open("rb") as file:
        fresh = map_postings(file, sizes, verify=True)
    held = np.isin(stored.groups, fresh.terms)
    words = stored.words.taken(np.flatnonzero(held))
    fresh = replace(fresh, words=words, groups=stored.groups[held])
    index = InvertedIndex((fresh,), (np.zeros(0, np.int64),))
    return StoredPostings(index, ScoreScale.of(collection.index.vectors))


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
            elif how == "compact":
                live = live.compact()
                assert len(live.segments) == 1
            else:
                live = live.remove(list(what), missing_ok=True, purge=how == "purge")
                left = {name: text for name, text in left.items() if name not in what}
            again = dv.open_collection(path)
            assert [hit.id for hit in live.search(query)] == [hit.id for hit in again.search(query)]
        live = dv.open_collection(path)
        assert [live.find_row(name) for name in left] == [*range(len(left))]
        assert live.find_row("nobody") is None
        assert live.ids.to_pylist() == list(left)
        assert live.column("text").to_pylist() == list(left.values())
        fresh = dv.build_collection(
            MODEL, table(left), Path(folder, "fresh.idx"), id_column="name", as_collection=False
        )
        assert np.array_equal(live.index.vectors, fresh.index.vectors)
        assert live.description.zero_rows == fresh.description.zero_rows
        total = live.description.built + live.description.added
        assert total == fresh.description.built
        # Stems are as they are stored: what was learned at first, and what followed those rules.
        words = words_built_afresh(live, Path(folder))
        fresh = replace(fresh, words=words)
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
