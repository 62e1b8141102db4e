"""Text overlap, pair by pair, against the slow reference."""

from __future__ import annotations

import numpy as np
import pytest

from deltavec.search import shingles as layer
from deltavec.search.shingles import Shingles, shared_spans, text_matches, text_pairs
from support import overlap_reference

NOTICE = "The pool is closed on Monday from nine to noon for cleaning"
LONG = "A storm hit the coast of New South Wales and flooding closed the roads to the town"
DOCUMENTS = [
    NOTICE,
    "A storm hit the coast of Wales, and flooding closed roads to the town",
    f"{NOTICE}!!",
    NOTICE.replace("noon", "ten"),
    LONG,
    "Flight 714 leaves gate 12 at 9 today for Rome",
    "Flight 815 leaves gate 31 at 8 today for Rome",
    "今天北京天氣很好我們去公園玩",
    "今天北京天氣真好我們去公園玩",
    "ก็ น้ำ ใจ ดี",
    "Too short",
    "too SHORT.",
    "",
    "...",
    f"> {LONG}\nI was there, and have never seen the river as high as on that night",
]


def found_pairs(
    documents: list[str], threshold: float
) -> dict[tuple[int, int], tuple[float, float]]:
    shingles = Shingles.of([documents[:3], documents[3:]], threads=1)
    return {
        (a, b): (shared, contained)
        for part in text_pairs(shingles, threshold, threads=1)
        for a, b, shared, contained in zip(*(column.tolist() for column in part), strict=True)
    }


@pytest.mark.parametrize("threshold", [0.05, 0.3, 0.5, 0.9])
def test_pairs_are_those_of_the_reference(threshold: float) -> None:
    expected = {
        pair: tuple(overlap)
        for pair, overlap in overlap_reference.pairs(DOCUMENTS).items()
        if threshold <= overlap.shared and not {2, 11} & {*pair}  # equal to one before
    }
    assert expected or threshold == 0.9
    found = found_pairs(DOCUMENTS, threshold)
    assert found.keys() == expected.keys()
    for pair, overlap in expected.items():
        assert found[pair] == pytest.approx(overlap, abs=1e-5)  # weights are float32


def test_texts_with_the_same_words_have_a_first_one() -> None:
    firsts = Shingles.of([DOCUMENTS]).firsts.tolist()
    assert firsts[2] == 0  # punctuation and case do not count
    assert firsts[11] == 10
    assert firsts[12:14] == [12, 13]  # without words, there is nothing to be the same


def test_a_reply_is_no_duplicate_of_the_mail_that_it_quotes() -> None:
    reply = f"> {LONG}\nYes, I saw it from the hill"
    as_text = f"{LONG}\nYes, I saw it from the hill"
    noise = [f"word{n} other{n} third{n} fourth{n} fifth{n} sixth{n}" for n in range(20)]
    assert (0, 1) not in found_pairs([LONG, reply, *noise], 0.3)
    assert (0, 1) in found_pairs([LONG, as_text, *noise], 0.3)
    # A copy that has lost the marks is one all the same.
    assert found_pairs([reply, as_text, "x", *noise], 0.9) == {}  # the same words: equal texts
    assert Shingles.of([[reply, as_text]]).firsts.tolist() == [0, 0]


@pytest.mark.parametrize(("line", "pairs"), [("-- ", 0), ("-----", 1)])
def test_a_signature_after_two_dashes_may_be_longer(line: str, pairs: int) -> None:
    sayings = "\n".join(f"saying number{n} of wise{n} hamsters and sprockets{n}" for n in range(12))
    posts = [f"{text}\n{line}\n{sayings}" for text in ("what is a uart", "why so slow a standard")]
    assert 400 < len(sayings) < 1600
    assert len(found_pairs(posts, 0.3)) == pairs


def test_a_long_signature_makes_no_duplicates() -> None:
    signature = '\n---\n Jo Doe, Institute of Things, 12 Long Street, Far Town\n"to be or not"'
    noise = [f"word{n} other{n} third{n} fourth{n} fifth{n} sixth{n}" for n in range(20)]
    posts = [f"I agree with all of that{signature}", f"Where can I buy one of these{signature}"]
    assert (0, 1) not in found_pairs([*posts, *noise], 0.3)
    assert (0, 1) in found_pairs([*(post.replace("---", "") for post in posts), *noise], 0.3)


def test_a_strip_with_many_pairs_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [f"{NOTICE} {letter}" for letter in "abcdefghijkl"]
    whole = found_pairs(documents, 0.05)
    assert len(whole) == 66
    monkeypatch.setattr(layer, "PAIRS_A_STRIP", 1)
    assert found_pairs(documents, 0.05) == whole


def test_matches_are_the_best_of_others_in_any_blocks() -> None:
    own = Shingles.of([[LONG, NOTICE, "short", "", "something else that nobody has said"]])
    others = ["short", f"{NOTICE} and Tuesday", f"intro {LONG} {NOTICE} tail", LONG, NOTICE.lower()]
    for size in (1, 2, 5):
        blocks = (Shingles.of([others[i : i + size]]) for i in range(0, 5, size))
        best = text_matches(own, blocks, 0.5, 0.8)
        assert best.rows.tolist() == [3, 4, 0, -1, -1]
        assert best.shared[:3].tolist() == [1, 1, 1]
    inside = text_matches(own, [Shingles.of([[others[2]]])], 0.9, 0.8)
    assert inside.rows.tolist() == [0, 0, -1, -1, -1]
    assert (inside.contained[:2] > 0.8).all()
    assert (inside.shared[:2] < 0.9).all()
    none = text_matches(own, [Shingles.of([[""]])], 0.5, 0.8)
    assert none.rows.tolist() == [-1] * 5


def test_many_documents_are_weighed_by_some(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = [f"{NOTICE} {n} {n + 1} {n + 2}" for n in range(64)]
    shingles = Shingles.of([documents])
    whole = shingles.weights()
    monkeypatch.setattr(layer, "COUNTED", 16)
    some = shingles.weights()
    assert some.shift == whole.shift
    assert some.table.max() < whole.table.max()  # log(1 + N) of fewer documents
    again = Shingles.of([documents[::-1]]).weights()
    assert np.array_equal(again.table, some.table)  # in whatever order they come


def test_no_documents_have_no_pairs() -> None:
    assert list(text_pairs(Shingles.of([]), 0.5)) == []


def test_words_beyond_a_table_begin_a_new_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layer, "MOST_APART", 3)
    again = Shingles.of([DOCUMENTS[:5], DOCUMENTS[5:]])
    monkeypatch.undo()
    assert np.array_equal(again.keys, Shingles.of([DOCUMENTS]).keys)


def test_what_both_texts_have_is_marked() -> None:
    a, b = "We say: the room was quiet and clean.", "The room was quiet and CLEAN, mostly"
    first, second = shared_spans(a, b)
    assert [a[i:j] for i, j in first] == ["the room was quiet and clean"]
    assert [b[i:j] for i, j in second] == ["The room was quiet and CLEAN"]
    assert shared_spans("one two three", "four five") == ([], [])
    assert shared_spans("", "") == ([], [])
    first, _ = shared_spans("a b c d x e f g h", "a b c d y e f g h")
    assert len(first) == 2
