"""The forms of words are those of the slow reference, whatever the words are."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from deltavec.core.learning.stemming import WordRows, learn_stems
from deltavec.core.vocabulary import Vocabulary
from support import stemming_reference

STEMS = ["flow", "plate", "wing", "heat", "naïv", "слово", "über", "a1b2", "layer"]
ENDINGS = ["", "s", "ed", "ing", "es", "ность", "2", "ers", "longer", "é"]


@st.composite
def words_with_rows(draw: st.DrawFn) -> tuple[list[str], dict[str, np.ndarray]]:
    made = st.builds(str.__add__, st.sampled_from(STEMS), st.sampled_from(ENDINGS))
    words = draw(st.lists(made, min_size=1, max_size=70, unique=True))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    near = draw(st.floats(0, 3))
    of_stem = {stem: near * rng.standard_normal(8) for stem in STEMS}
    rows = {}
    for word in words[: draw(st.integers(0, len(words)))]:
        stem = max((stem for stem in STEMS if word.startswith(stem)), key=len)
        row = of_stem[stem] + rng.standard_normal(8)
        rows[word] = (row / np.linalg.norm(row)).astype(np.float32)
    return words, rows


def numbers_of(words: list[str], rows: dict[str, np.ndarray]) -> WordRows:
    table = np.array([*rows.values()], np.float32).reshape(-1, 8)
    numbers = {word: number for number, word in enumerate(rows)}
    return WordRows(table, np.array([numbers.get(word, -1) for word in words], np.int64))


@given(words_with_rows())
def test_groups_are_those_of_the_reference(drawn: tuple[list[str], dict[str, np.ndarray]]) -> None:
    words, rows = drawn
    stems = learn_stems(Vocabulary.of(words), numbers_of(words, rows))
    held, _ = stemming_reference.rules(rows)
    assert set(stems.rules.endings) == set(held)
    members = defaultdict(set)
    for word, group in zip(words, stems.groups.tolist(), strict=True):
        members[group].add(word)
    assert set(map(frozenset, members.values())) == stemming_reference.groups(words, rows)


@given(words_with_rows(), st.integers(0, 70))
def test_words_that_come_later_change_no_group(
    drawn: tuple[list[str], dict[str, np.ndarray]], count: int
) -> None:
    words, rows = drawn
    some = words[:count]
    before = learn_stems(Vocabulary.of(some), numbers_of(some, rows))
    after = before.extended(Vocabulary.of(words), numbers_of(words, rows))
    assert after.groups[: len(some)].tolist() == before.groups.tolist()
    assert sorted(set(after.groups.tolist())) == list(range(len(after)))
