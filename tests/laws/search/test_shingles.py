"""Text overlap is that of the slow reference, and all pairs are found, for every corpus."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import deltavec as dv
from deltavec.search.shingles import Shingles, text_matches
from support import overlap_reference

pytestmark = pytest.mark.nojit

WORDS = [
    "sea",
    "room",
    "Quiet",
    "the",
    "of",
    "7",
    "b2",
    "漢",
    "字漢",
    "ไทย",
    "\n",
    "\n> ",
    "\nab> ",
    "\n|> ",
    "\n::",
    "\n-- \n",
    ":",
]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=16).map(" ".join)
CORPORA = st.lists(TEXTS, max_size=7)
CLOSE = 1e-4  # weights are float32


@given(CORPORA, st.sampled_from([0.2, 0.5, 0.8]))
def test_every_pair_that_shares_enough_is_found(documents: list[str], threshold: float) -> None:
    found = dv.duplicates(documents, threshold, threads=1)
    expected = overlap_reference.pairs(documents)
    pairs = dict(
        zip(
            zip(found.pairs.a.tolist(), found.pairs.b.tolist(), strict=True),
            zip(found.pairs.shared.tolist(), found.pairs.contained.tolist(), strict=True),
            strict=True,
        )
    )
    firsts = found.firsts.tolist()
    for (i, j), overlap in expected.items():
        if firsts[i] == firsts[j]:
            assert (
                overlap_reference.read(documents[i]).words
                == overlap_reference.read(documents[j]).words
            )
            assert firsts[i] != i or pairs[i, j] == (1, 1)
        elif firsts[i] < i or firsts[j] < j:
            assert (i, j) not in pairs
        elif overlap.shared >= threshold + CLOSE:
            assert pairs[i, j] == pytest.approx(tuple(overlap), abs=CLOSE)
        elif overlap.shared < threshold - CLOSE:
            assert (i, j) not in pairs


@given(CORPORA, st.sampled_from(["first", "longest"]))
def test_no_two_that_stay_are_duplicates_and_each_that_goes_has_one(
    documents: list[str], keep: str
) -> None:
    found = dv.duplicates(documents, keep=keep)
    gone = set(found.removed.tolist())
    shared = overlap_reference.pairs(documents)
    for pair, overlap in shared.items():
        assert gone & {*pair} or overlap.shared < 0.5 + CLOSE
    for row in found.table.to_pylist():
        if not row["keep"]:
            pair = tuple(sorted((row["id"], row["representative"])))
            assert row["representative"] not in gone
            if row["why"] == "shared text":
                assert shared[pair].shared >= 0.5 - CLOSE
                assert row["shared"] == pytest.approx(shared[pair].shared, abs=CLOSE)


@given(CORPORA, st.integers(1, 7))
def test_any_chunks_give_the_same_shingles(documents: list[str], size: int) -> None:
    whole = Shingles.of([documents])
    parts = Shingles.of([documents[i : i + size] for i in range(0, len(documents), size)])
    for name in ("keys", "offsets", "own_keys", "own_offsets", "words", "digests"):
        assert getattr(whole, name).tolist() == getattr(parts, name).tolist()


@given(CORPORA, CORPORA)
def test_a_match_is_found_wherever_there_is_one(own: list[str], others: list[str]) -> None:
    best = text_matches(Shingles.of([own]), [Shingles.of([others])], 0.5, 0.8)
    texts, other_texts = (
        [overlap_reference.read(document) for document in some] for some in (own, others)
    )
    weights = overlap_reference.Weights(texts)
    for i, text in enumerate(texts):
        shared = [overlap_reference.overlap(text, other, weights).shared for other in other_texts]
        if best.rows[i] < 0:
            assert max(shared, default=0) < 0.5 + CLOSE
        elif best.shared[i] < 1:  # with the same words it is 1, whatever is quoted
            assert best.shared[i] == pytest.approx(shared[best.rows[i]], abs=CLOSE)
