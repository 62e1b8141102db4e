import numpy as np
import pytest

from deltavec.core.arrays import offsets_of
from deltavec.core.fitting import fit
from deltavec.core.forms import EmbeddingTable, no_components
from deltavec.core.learning import stemming
from deltavec.core.learning import stemming as module
from deltavec.core.learning.stemming import Rules, Stems, WordRows, learn_stems
from deltavec.core.vocabulary import Vocabulary


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([(0, 1), (2, 3), (1, 2)], [0, 0, 2, 2]),  # one of four pairs between the two groups
        ([(0, 1), (2, 3), (1, 2), (0, 2)], [0, 0, 0, 0]),  # two of four
        ([(3, 2), (2, 1), (1, 3)], [0, 1, 1, 1]),
    ],
)
def test_groups_merge_where_half_of_their_pairs_are_linked(links, expected):
    a, b = np.array(links).T
    both = sorted([*zip(a, b, strict=True), *zip(b, a, strict=True)])
    begins = offsets_of(np.bincount([one for one, _ in both], minlength=4))
    groups = np.arange(4, dtype=np.int32)
    stemming.merge_groups(a, b, begins, np.array([other for _, other in both]), groups, 0)
    assert groups.tolist() == expected


def test_endings_of_more_letters_than_allowed_are_passed_over():
    words = ["room", "roommates", "rooms"]
    letters = np.array([ord(letter) for word in words for letter in word], np.uint16)
    begins = offsets_of([len(word) for word in words])
    common = stemming.common_prefixes(letters, begins)
    assert common.tolist() == [0, 4, 4]
    pairs, endings = np.zeros((9, 2), np.int32), np.zeros((9, 2), np.uint64)
    no_rules = np.zeros(0, np.uint64), np.zeros(1, np.int64), np.zeros(0, np.uint64)
    found, reached = stemming.list_prefix_pairs(
        letters, begins, common, 4, 4, *no_rules, 0, pairs, endings
    )
    assert (found, reached) == (1, 3)
    assert pairs[0].tolist() == [0, 2]
    assert endings[0].tolist() == [0, ord("s")]


def test_endings_of_five_letters_are_told_apart_by_each_of_them():
    letters = np.array([4095, 1, 2, 3, 4095], np.uint16)
    others = [np.where(np.arange(5) == place, 7, letters) for place in range(5)]
    packed = {int(stemming.pack_ending(row.astype(np.uint16), 0, 5)) for row in others}
    assert len(packed | {int(stemming.pack_ending(letters, 0, 5))}) == 6


def test_only_pairs_that_a_rule_joins_are_listed():
    words = ["room", "rooms", "roomy"]
    letters = np.array([ord(letter) for word in words for letter in word], np.uint16)
    begins = offsets_of([len(word) for word in words])
    common = stemming.common_prefixes(letters, begins)
    rules = np.zeros(1, np.uint64), np.array([0, 1]), np.array([ord("s")], np.uint64)  # "" and "s"
    pairs, endings = np.zeros((9, 2), np.int32), np.zeros((9, 2), np.uint64)
    found, reached = stemming.list_prefix_pairs(
        letters, begins, common, 4, 4, *rules, 0, pairs, endings
    )
    assert (found, reached) == (1, 3)
    assert pairs[0].tolist() == [0, 1]


NOUNS = ["room", "pillow", "window", "towel", "garden"]
WORDS = [noun + ending for noun in NOUNS for ending in ("", "s")]
GROUPS = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]


def rows(words, count=None):
    """Rows by the first four letters: forms of a word have the same one."""
    beginnings = sorted({word[:4] for word in words})
    table = np.eye(len(beginnings), dtype=np.float32)
    numbers = [beginnings.index(word[:4]) for word in words]
    known = len(words) if count is None else count
    return WordRows(table, np.array(numbers[:known] + [-1] * (len(words) - known)))


def grouped(words, count=None):
    return learn_stems(Vocabulary.of(words), rows(words, count))


def test_forms_of_a_word_are_one_group():
    stems = grouped(WORDS)
    assert stems.groups.tolist() == GROUPS
    assert len(stems) == 5
    assert stems.rules.endings == [("", "s")]
    assert stems.rules.pairs.tolist() == [5]


def test_a_rule_needs_five_pairs_of_words():
    assert grouped(WORDS[:8]).rules.endings == []
    assert len(grouped(WORDS[:8])) == 8


def test_function_words_have_no_forms():
    words = [*WORDS, "with", "withs"]
    assert grouped(words).groups.tolist() == [*GROUPS, 5, 5]
    formless = rows(words)._replace(formless=np.array([10]))
    assert learn_stems(Vocabulary.of(words), formless).groups.tolist() == [*GROUPS, 5, 6]
    more = grouped(WORDS).extended(Vocabulary.of(words), formless)
    assert more.groups.tolist() == [*GROUPS, 5, 6]


def test_words_no_closer_than_chance_have_no_rule():
    table = np.eye(10, dtype=np.float32)
    stems = learn_stems(Vocabulary.of(WORDS), WordRows(table, np.arange(10)))
    assert stems.groups.tolist() == list(range(10))


def test_a_word_too_rare_for_a_row_follows_the_rules():
    assert grouped([*WORDS, "curtain", "curtains"], 10).groups.tolist() == [*GROUPS, 5, 5]


def test_a_rule_that_holds_links_words_that_are_as_near_as_any_two():
    words = [*WORDS, "glass", "glasss"]
    table = np.eye(12, dtype=np.float32)[[*GROUPS, 5, 6]]
    found = learn_stems(Vocabulary.of(words), WordRows(table, np.arange(12)))
    assert found.groups.tolist() == [*GROUPS, 5, 5]


def test_words_that_point_apart_are_not_linked_by_a_rule_that_holds():
    words = [*WORDS, "glass", "glasss"]
    table = np.concatenate([np.eye(5)[GROUPS], [[1, 0, 0, 0, 0], [-1, 0, 0, 0, 0]]])
    found = learn_stems(Vocabulary.of(words), WordRows(table.astype(np.float32), np.arange(12)))
    assert found.groups.tolist() == [*GROUPS, 5, 6]


def test_numbers_and_short_words_have_no_forms():
    words = [*WORDS, "1960", "1960s", "sea", "seas"]
    assert grouped(words).groups.tolist() == [*GROUPS, 5, 6, 7, 8]


def test_any_script_has_forms():
    nouns = ["книга", "школа", "вода", "рыба", "страна"]
    stems = grouped([noun + ending for noun in nouns for ending in ("", "ми")])
    assert stems.rules.endings == [("", "ми")]
    assert stems.groups.tolist() == GROUPS


def test_endings_have_five_letters_at_most():
    beginnings = ["alter", "form", "found", "implement", "invit", "plant", "quot", "tempt"]
    words = [word + end for word in beginnings for end in ("", "ation", "ations")]
    stems = grouped(words)
    assert set(stems.rules.endings) == {("", "ation"), ("", "s")}
    assert stems.groups.tolist() == np.repeat(np.arange(8), 3).tolist()


def test_words_with_letters_beyond_the_number_there_can_be_have_no_forms():
    words = [*WORDS, "가가가가", "가가가가s"]
    assert grouped(words, 10).groups[-2:].tolist() == [5, 5]
    before_them = [chr(0x4E00 + number) for number in range(module.MOST_LETTERS)]
    assert grouped([*words, *before_them], 10).groups[10:12].tolist() == [5, 6]


def test_no_rules_leave_every_word_alone():
    assert Stems.none(3).groups.tolist() == [0, 1, 2]
    assert Rules.none().endings == []
    assert len(Stems.none(0)) == 0


def test_more_words_join_groups_that_are_there_and_merge_none():
    before = grouped(WORDS)
    words = [*WORDS, "lampshades", "lampshade", "roomss"]
    after = before.extended(Vocabulary.of(words), rows(words, 10))
    assert after.groups.tolist() == [*GROUPS, 5, 5, 0]
    assert after.rules is before.rules


def test_a_rule_whose_letters_do_not_occur_is_passed_over():
    stems = grouped(WORDS).extended(Vocabulary.of(WORDS), rows(WORDS))
    assert stems.groups.tolist() == GROUPS
    others = Stems(np.zeros(0, np.int32), stems.rules)
    assert others.extended(
        Vocabulary.of(["日本語語", "日本語語文"]), rows(["aaaa", "bbbb"])
    ).groups.tolist() == [0, 1]


@pytest.mark.parametrize("room", [1, 2, 1000])
def test_room_for_pairs_changes_nothing(monkeypatch, room):
    words = [
        stem + end
        for stem in ("room", "pill", "wind", "glas", "door")
        for end in ("", "s", "ed", "er")
    ]
    expected = grouped(words)
    monkeypatch.setattr(module, "PAIRS_AT_ONCE", room)
    found = grouped(words)
    assert found.groups.tolist() == expected.groups.tolist()
    assert found.rules.endings == expected.rules.endings


def test_rows_are_centered_and_of_unit_length():
    table = EmbeddingTable(
        rows=np.array([[3, 0], [0, 2], [1, 1]], np.float32),
        penalties=np.zeros(3),
        offset=np.array([1.0, 1.0]),
        norms=np.ones(3, np.float32),
        offset_norm=1.0,
        spectrum=np.array([1.0, 0.5]),
        length_ratio=0.5,
        **no_components(3, 2),
    )
    found = WordRows.of(Vocabulary.of(["b", "new", "a"]), Vocabulary.of(["a", "b", "c"]), table)
    assert found.numbers.tolist() == [1, -1, 0]
    # For documents half as long the second direction counted .5 * .5 / (1 - .5 * .5) = 1 / 3.
    weighted = np.array([[2, -1], [-1, 1]]) * [1, 0.5 / (1 / 3)]
    expected = weighted / np.linalg.norm(weighted, axis=1, keepdims=True)
    assert np.allclose(found.table, expected, atol=1e-6)


def test_words_of_a_model_of_ngrams_have_the_vectors_of_their_texts():
    texts = ["the sea was calm", "a calm sea", "the room was loud", "a loud room"] * 5
    model = fit(texts, units="grams-3")
    rows = WordRows.of_texts(Vocabulary.of(["calm", "xyzzy", "loud"]), model)
    assert rows.numbers.tolist() == [0, -1, 1]
    np.testing.assert_allclose(np.linalg.norm(rows.table, axis=1), 1, rtol=1e-6)
    assert [model.terms("Sea").units[0], model.tokenize("Sea").units[0]] == ["<sea>", "<se"]
