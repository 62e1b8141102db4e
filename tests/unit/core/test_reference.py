"""Numbers worked by hand, for the oracle itself: nobody else checks it."""

from __future__ import annotations

import math

import numpy as np
import pytest

import reference
from reference import Counts, Method, Vector

COLORS = {"red": np.array([1.0, 0.0]), "blue": np.array([0.0, 1.0]), "green": np.array([0.6, 0.8])}
CORPUS = [["red", "red", "blue"], ["red", "green", "mauve"]]
COUNTS = reference.count(CORPUS, list(COLORS))


def vector_of(method: Method, *document: str) -> Vector:
    return reference.embed(reference.fit(CORPUS, COLORS, method), document).u


def direction(*numbers: float) -> Vector:
    return np.array(numbers) / math.hypot(*numbers)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" ,. ", []),
        ("Don't PANIC: 42", ["don", "t", "panic", "42"]),
        ("snake_case __init__", ["snake_case", "__init__"]),
        ("हिन्दी", ["हिन्दी"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("İstanbul", ["İstanbul"]),
        ("ΟΔΟΣ", ["οδοσ"]),  # code point by code point: no final sigma
        ("300\u212a ǅ ẞ", ["300k", "ǆ", "ß"]),
        ("日本語。中", ["日", "日本", "本", "本語", "語", "中"]),
        ("a😀b\u200dc", ["a", "b", "c"]),
        ("x² ½ Ⅻ Ⓐ", ["x²", "½", "ⅻ"]),
        ("tom‿jerry", ["tom", "jerry"]),
    ],
)
def test_words_are_runs_of_letters_marks_and_numbers(text: str, expected: list[str]) -> None:
    assert reference.words(text) == expected


@pytest.mark.parametrize("broken", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc1\xa1"])
def test_broken_bytes_separate_words(broken: bytes) -> None:
    assert reference.words_of_bytes(b"Tea" + broken + b"Pot") == ["tea", "pot"]


def test_only_one_character_has_a_longer_lower_case() -> None:
    longer = [chr(c) for c in range(0x110000) if len(chr(c).lower()) > 1]
    assert longer == ["İ"]


def test_counts_by_hand() -> None:
    assert (
        Counts(
            n_c={"red": 3, "blue": 1, "green": 1},
            D_i={"red": 2, "blue": 1, "green": 1},
            N_c=5,
            D=2,
            tokens=6,
            unknown_documents=0,
        )
        == COUNTS
    )
    assert COUNTS.tf_c("red") == 0.6
    assert COUNTS.mean_length == 2.5


def test_a_document_without_known_words_is_counted() -> None:
    counts = reference.count([["red"], [], ["mauve", "taupe"]], ["red"])
    assert (counts.D, counts.tokens, counts.unknown_documents) == (3, 3, 2)


def test_weights_by_hand() -> None:
    assert reference.unit(COUNTS, "red") == 1
    assert reference.idf(COUNTS, "red") == 0
    assert reference.idf(COUNTS, "blue") == pytest.approx(math.log(2))
    assert reference.sif(COUNTS, "red", a=0.2) == pytest.approx(0.25)
    assert reference.sif(COUNTS, "red") == pytest.approx(0.0001 / 0.6001)
    assert reference.subsampling(COUNTS, "red", t=0.15) == pytest.approx(0.5)
    assert reference.subsampling(COUNTS, "blue", t=0.25) == 1


def test_weights_of_a_word_that_never_occurs() -> None:
    counts = reference.count([["red"]] * 4, ["red", "blue"])
    assert reference.idf(counts, "blue") == pytest.approx(math.log(4))
    assert reference.sif(counts, "blue") == 1
    assert reference.subsampling(counts, "blue") == 1


def test_sum_by_hand() -> None:
    # red 2/3 (1, 0) + blue 1/3 (0, 1); under idf red weighs nothing.
    assert vector_of(Method.named("unit-sum"), *CORPUS[0]) == pytest.approx(direction(2, 1))
    assert vector_of(Method.named("idf-sum"), *CORPUS[0]) == pytest.approx(direction(0, 1))


def test_center_by_hand() -> None:
    # (2/3, 1/3) - [.6 (1, 0) + .2 (0, 1) + .2 (.6, .8)] = (2/3, 1/3) - (.72, .36).
    method = Method(reference.unit, reference.center)
    assert vector_of(method, *CORPUS[0]) == pytest.approx(direction(-2, -1))


def test_center_leaves_rare_words_out_of_the_center() -> None:
    # Only red, at .6, is above .2: blue and green, at .2 exactly, are not.
    sums = reference.center(["blue"], COUNTS, dict.fromkeys(COLORS, 2.0), min_frequency=0.2)
    assert sums.words == {"blue": 2.0}
    assert sums.center == {"red": 1.2}


def test_delta_by_hand() -> None:
    # red 2/3 - .6 = 1/15, blue 1/3 - .2 = 2/15; green is not in the document.
    method = Method(reference.unit, reference.delta)
    assert vector_of(method, *CORPUS[0]) == pytest.approx(direction(1, 2))


def test_term_frequencies_are_over_known_words_only() -> None:
    # red 1/2 - .6 = -.1, green 1/2 - .2 = .3: mauve counts for nothing.
    method = Method(reference.unit, reference.delta)
    expected = direction(-0.1 + 0.3 * 0.6, 0.3 * 0.8)
    assert vector_of(method, *CORPUS[1]) == pytest.approx(expected)


def test_a_document_without_known_words_is_zero_in_every_form() -> None:
    for name in reference.NAMES:
        assert not vector_of(Method.named(name), "mauve").any()


def test_a_document_like_the_corpus_is_zero_under_delta_and_center() -> None:
    for form in [reference.delta, reference.center]:
        fitted = reference.fit([["red", "blue"]] * 3, COLORS, Method(reference.unit, form))
        assert not reference.embed(fitted, ["blue", "red"]).u.any()


def test_the_component_is_that_of_documents_as_they_stand() -> None:
    # (1, 0) and (.6, .8) are of unit length, so the first singular vector is along their sum,
    # and the second along their difference, which centering would put first.
    units = [np.array([1.0, 0.0]), np.array([0.6, 0.8])]
    first, second = reference.leading_components(units, 2)[0]
    assert first == pytest.approx(direction(2, 1))
    assert second == pytest.approx(direction(-1, 2))
    assert reference.leading_components(units, 1, centered=True)[0][0] == pytest.approx(second)


def test_components_that_the_documents_lack_stay() -> None:
    components, singular_values = reference.leading_components([np.array([0.0, -1.0, 0.0])] * 2, 3)
    assert [list(p) for p in components] == [[0, 1, 0]]
    assert singular_values == pytest.approx([math.sqrt(2), 0])


def test_removal_by_hand() -> None:
    fitted = reference.fit([["red"], ["red"], ["blue"]], COLORS, Method.named("unit-sum-pca"))
    assert [list(p) for p in fitted.components] == [[1, 0]]
    assert reference.embed(fitted, ["green"]).u == pytest.approx([0, 1])
    assert not reference.embed(fitted, ["red"]).u.any()


def test_auto_follows_the_mean_length() -> None:
    def counts(length: int) -> Counts:
        return reference.count([["red"] * length], ["red"])

    assert reference.auto(counts(299)) == "idf-sum-pca"
    assert reference.auto(counts(300)) == "idf-delta-pca"
    assert reference.auto(counts(449), removal=False) == "idf-center"
    assert reference.auto(counts(450), removal=False) == "idf-delta"


def test_shares_by_hand() -> None:
    fitted = reference.fit(CORPUS, COLORS, Method.named("unit-sum"))
    a, b = ["red", "blue"], ["green"]
    half = math.sqrt(0.5)
    assert reference.shares(fitted, a, b) == pytest.approx({"red": 0.6 * half, "blue": 0.8 * half})
    pairs = {("red", "green"): 0.6 * half, ("blue", "green"): 0.8 * half}
    assert reference.pair_shares(fitted, a, b) == pytest.approx(pairs)


def test_the_center_has_a_share() -> None:
    fitted = reference.fit(CORPUS, COLORS, Method(reference.unit, reference.center))
    # red alone: (1, 0) - (.72, .36) = (.28, -.36), of length .456...; b is the same document.
    length = math.hypot(0.28, 0.36)
    expected = {
        "red": 0.28 / length**2,
        reference.OFFSET: (-0.72 * 0.28 + 0.36 * 0.36) / length**2,
    }
    assert reference.shares(fitted, ["red"], ["red"]) == pytest.approx(expected)


def test_cooccurrence_by_hand() -> None:
    vocabulary = ["a", "b"]
    near = reference.cooccurrence([["a", "b", "a"]], vocabulary, window=1)
    assert near.tolist() == [[0, 2], [2, 0]]
    far = reference.cooccurrence([["a", "b", "a"]], vocabulary, window=2)
    assert far.tolist() == [[2, 2], [2, 0]]


def test_unknown_words_take_no_place_in_the_window() -> None:
    C = reference.cooccurrence([["a", "x", "b"], ["a"], ["b"]], ["a", "b"], window=1)
    assert C.tolist() == [[0, 1], [1, 0]]


def test_ppmi_by_hand() -> None:
    # Rows 4 and 2; q = 4^.75 and 2^.75 over their sum: .6271 and .3729.
    P = reference.ppmi(np.array([[2.0, 2.0], [2.0, 0.0]]))
    q_a = 4**0.75 / (4**0.75 + 2**0.75)
    assert P[0, 0] == 0
    assert P[0, 1] == pytest.approx(math.log(2 / (4 * (1 - q_a))))
    assert P[1, 0] == pytest.approx(math.log(2 / (2 * q_a)))
    assert P[1, 1] == 0


def test_ppmi_vectors_by_hand() -> None:
    # a and b each see only the other: PPMI is ln 2 off the diagonal, its singular vectors are
    # the axes. c sees nobody, and gets no vector.
    rows = reference.ppmi_rows([["a", "b", "a"], ["c"]], ["a", "b", "c"], window=1, dimensions=2)
    assert np.linalg.norm(rows["a"]) == pytest.approx(math.sqrt(math.log(2)))
    vectors = reference.ppmi_vectors(rows)
    assert sorted(vectors) == ["a", "b"]
    assert vectors["a"] @ vectors["b"] == pytest.approx(0)
    assert np.linalg.norm(vectors["a"]) == pytest.approx(1)
