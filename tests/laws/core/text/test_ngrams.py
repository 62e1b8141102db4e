"""The fused loops find the units that the slow reference finds, under every rule."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import reference
from deltavec.core.batching import count_batch
from deltavec.core.fitting import fit
from deltavec.core.kernels.tokenize import TokenBuffers
from deltavec.core.learning.cooccurrence import ids_of
from deltavec.core.learning.vocabulary_builder import WordCounts, word_counts
from deltavec.core.text import rules
from deltavec.core.text.batches import as_corpus, as_text_batch
from deltavec.core.text.rules import Units
from deltavec.core.text.tokenize import tokenize, tokenize_list
from deltavec.core.tokens import TokenStream
from deltavec.core.vectors import WordVectors
from deltavec.core.vocabulary import Vocabulary
from support.strategies import CURIOUS, UNICODE_14, texts

RULES = [
    "words",
    "whitespace",
    "words:grams-4",
    "words:grams-2",
    "words:grams-8",
    "words:words+grams-3",
    "whitespace:words+grams-5",
    "words+folded",
    "words+folded:words+grams-3",
]
# Scripts without spaces, their marks, and what may stand beside them.
MIXED = [*"漢字一〇かなカナーﾊﾟｶﾞกำลังไทยភាសាຂ້ອຍမြန်မာ𠀀𛀀", *"aB9_ß é,。、 \u0301\ufe0f\u3099"]

mixed_texts = st.text(st.one_of(st.sampled_from(MIXED), st.sampled_from(CURIOUS)), max_size=60)


def documents() -> st.SearchStrategy[list[str]]:
    """Documents in scripts with and without spaces, within one word too."""
    return st.lists(st.one_of(mixed_texts, texts()), max_size=4)


@pytest.mark.parametrize("name", RULES)
@given(documents=documents())
@example(documents=["漢字", "漢 字", "漢字 漢字", "iPhone手机5G日本", "́漢", "が́か゛"])
@example(documents=["a", "ab", "abc", "abcd", "é" * 9, "x" * 600, "日" * 40])
def test_learning_finds_the_units_of_the_slow_reference(name: str, documents: list[str]) -> None:
    expected = Counter(unit for text in documents for unit in tokenize(text, name).units)
    counts = WordCounts()
    counts.add(as_text_batch(documents, name))
    assert counts.tokens == expected.total()
    vocabulary, found = counts.frequent(1)
    short = {unit: n for unit, n in expected.items() if len(unit.encode()) <= 1024}
    assert dict(zip(vocabulary.words, found.tolist(), strict=True)) == short


@given(documents=documents(), dropped=st.integers(1, 5), name=st.sampled_from(RULES))
@example(documents=["漢字漢字 b漢字", "iPhone手机5G日本"], dropped=2, name="words")
@example(documents=["An Extraordinary, x" + 600 * "y"], dropped=5, name="words:words+grams-3")
@example(documents=["An extraordinary one", "exé"], dropped=1, name="words:words+grams-3")
@example(documents=["Extraordinarily long sextet"], dropped=5, name="words:grams-8")
def test_known_units_are_found_in_their_order(
    name: str, documents: list[str], dropped: int
) -> None:
    expected = [tokenize(text, name).units for text in documents]
    distinct = sorted({unit for units in expected for unit in units})
    known = [unit for place, unit in enumerate(distinct) if place % 5 != dropped]
    vocabulary = Vocabulary.of(known)
    listed = np.concatenate([[], *ids_of(as_text_batch(documents, name), vocabulary, 1)])
    numbers = [vocabulary.ids(units) for units in expected]
    closed = [np.append(ids[ids >= 0], -1) for ids in numbers]
    assert listed.tolist() == np.concatenate([[], *closed]).tolist()
    statistics = count_batch(as_text_batch(documents, name), vocabulary)
    assert statistics.tokens == sum(map(len, expected))


@given(text=mixed_texts, room=st.integers(1, 4), name=st.sampled_from(RULES))
@example(text="漢字漢字", room=1, name="words")  # room for characters, not for pairs
@example(text="a漢字漢字", room=2, name="words")
def test_a_scan_that_stops_goes_on_where_it_stopped(name: str, text: str, room: int) -> None:
    expected = tokenize(text, name).units
    vocabulary = Vocabulary.of(dict.fromkeys(expected))
    stream = stream_of([text], name, vocabulary, room)
    found = [number for ids in stream.ids(vocabulary.table) for number in ids.tolist()]
    assert [vocabulary.word(number) for number in found[:-1]] == expected
    assert found[-1] == -1
    assert stream.tokens == len(expected)


def stream_of(documents: list[str], name: str, vocabulary: Vocabulary, room: int) -> TokenStream:
    """The token ids of documents, so many at a time."""
    buffers = TokenBuffers.of(vocabulary.table.longest)._replace(ids=np.empty(room, np.int32))
    return TokenStream(as_text_batch(documents, name), 0, len(documents), buffers)


@st.composite
def beside_each_other(draw: st.DrawFn) -> list[str]:
    """Documents whose words meet the edges of blocks of 64 bytes, and each other."""
    word = st.one_of(
        st.text(st.sampled_from("aBé_9"), min_size=1, max_size=9),
        st.integers(50, 80).map(lambda length: length * "y"),
        st.sampled_from(["\u2019", "d\u2019or", "\u201cOh", "Éa", "字b"]),
    )
    gap = st.sampled_from(["", " ", ", ", "\n  "])
    document = st.lists(st.tuples(word, gap), max_size=25).map(
        lambda pairs: "".join(one + other for one, other in pairs)
    )
    return draw(st.lists(document, min_size=1, max_size=6))


@given(
    documents=beside_each_other(),
    room=st.integers(1, 70),
    name=st.sampled_from(RULES),
    dropped=st.integers(1, 7),
)
@example(documents=["y" * 64], room=4, name="words", dropped=1)
@example(documents=["a", "b", "", "c" * 70, "d"], room=2, name="words", dropped=5)
@example(documents=["a " + "y" * 62, "y" * 63 + " b"], room=9, name="words", dropped=7)
def test_documents_beside_each_other_have_their_own_words(
    documents: list[str], room: int, name: str, dropped: int
) -> None:
    expected = [tokenize(text, name).units for text in documents]
    distinct = list(dict.fromkeys(unit for units in expected for unit in units))
    known = [unit for place, unit in enumerate(distinct) if place % 7 != dropped]
    vocabulary = Vocabulary.of(known)
    stream = stream_of(documents, name, vocabulary, room)
    found: list[list[str]] = [[]]
    for ids in stream.ids(vocabulary.table):
        for number in ids.tolist():
            if number < 0:
                found.append([])
            else:
                found[-1].append(vocabulary.word(number))
    assert found[:-1] == [[unit for unit in units if unit in known] for units in expected]
    assert found[-1] == []
    assert stream.tokens == sum(map(len, expected))


@given(
    document=st.lists(st.text(st.sampled_from(MIXED), min_size=1, max_size=9), max_size=5),
    name=st.sampled_from(RULES),
)
def test_lists_of_words_are_kept_and_their_units_found(document: list[str], name: str) -> None:
    expected = tokenize_list(document, name).units
    counts = WordCounts()
    counts.add(as_text_batch([document], name))
    vocabulary, found = counts.frequent(1)
    assert dict(zip(vocabulary.words, found.tolist(), strict=True)) == Counter(expected)


@given(text=mixed_texts, name=st.sampled_from(RULES))
def test_every_unit_is_made_of_the_words_it_came_from(text: str, name: str) -> None:
    own = tokenize(text, name)
    for unit, (first, last) in zip(own.units, own.origins, strict=True):
        assert unit.strip("<>") in "".join(own.words[first : last + 1])
    assert {place for origin in own.origins for place in origin} == set(range(len(own.words)))


@pytest.mark.skipif(not UNICODE_14, reason="the table is frozen at Unicode 14")
def test_characters_of_scripts_without_spaces_are_those_named_so() -> None:
    table = rules.rule("words")
    codes = np.arange(rules.CODE_POINTS)
    unspaced = table.pages[table.page_of[codes // rules.PAGE], codes % rules.PAGE]
    found = set(codes[unspaced == rules.UNSPACED].tolist())
    assert found == {c for c in codes.tolist() if reference.is_unspaced(chr(c))}


@given(
    corpus=st.lists(mixed_texts.filter(str.strip), min_size=3, max_size=6),
    name=st.sampled_from(["words", "words+grams-3", "grams"]),
    normalization=st.sampled_from(["none", "folded"]),
)
def test_shares_of_words_sum_to_the_cosine_whatever_the_units(
    corpus: list[str], name: str, normalization: str
) -> None:
    texts = [*corpus, "a room 漢字", "rooms 漢字かな"]
    rule = rules.full_name("words", Units.named(name), normalization)
    vocabulary, _ = word_counts(as_corpus(texts), rule).frequent(1)
    random = np.random.default_rng(len(vocabulary))
    vectors = WordVectors(vocabulary.words, random.standard_normal((len(vocabulary), 8)))
    model = fit(texts, vectors, "idf-center", tokenizer=rule)
    for a, b in pairwise(texts):
        why = model.explain(a, b)
        own, other = model.embed([a, b])
        assert why.cosine == pytest.approx(float(own @ other), abs=1e-5)
        for words, offset in ((why.words_a, why.offset_a), (why.words_b, why.offset_b)):
            assert sum(word.share for word in words) + offset == pytest.approx(why.cosine, abs=1e-6)
        assert {word.word for word in why.words_a} <= {*model.words(a)}
        assert {*why.unknown_a} | {word.word for word in why.words_a} == {*model.words(a)}
