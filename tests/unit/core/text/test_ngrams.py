import pytest

import deltavec as dv
from deltavec.core.learning.cooccurrence import ids_of
from deltavec.core.text import rules
from deltavec.core.text.batches import as_text_batch
from deltavec.core.text.rules import Units, full_name, plain_name, units_of
from deltavec.core.text.tokenize import tokenize, tokenize_list
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError


def units(text: str, name: str = "words") -> list[str]:
    return tokenize(text, name).units


def test_scripts_without_spaces_part_into_characters_and_pairs() -> None:
    assert units("我爱北京") == ["我", "我爱", "爱", "爱北", "北", "北京", "京"]
    assert units("ไทย") == ["ไ", "ไท", "ท", "ทย", "ย"]
    assert units("字") == ["字"]


def test_latin_words_and_numbers_stand_beside_them() -> None:
    assert units("用iPhone 15拍") == ["用", "iphone", "15", "拍"]


def test_marks_stay_with_their_character() -> None:
    assert units("กำลัง")[4:] == ["ลั", "ลัง", "ง"]
    assert units("か\u3099く") == ["か\u3099", "か\u3099く", "く"]
    assert units("ｶﾞｷ") == ["ｶﾞ", "ｶﾞｷ", "ｷ"]


def test_a_mark_without_a_character_begins_a_word() -> None:
    assert units("\u0301字 \u0301a") == ["\u0301", "字", "\u0301a"]


def test_syllables_of_tibetan_are_words() -> None:
    assert units("བོད་ཡིག") == ["བོད", "ཡིག"]


def test_runs_of_characters_have_marks_at_the_edges_of_words() -> None:
    assert units("Rooms a", "words:grams-4") == ["<roo", "room", "ooms", "oms>", "<a>"]
    assert units("Rooms a", "words:words+grams-4") == [
        "<rooms>", "<roo", "room", "ooms", "oms>", "<a>",
    ]  # fmt: skip


def test_a_word_as_long_as_a_run_is_one_unit() -> None:
    assert units("it", "words:words+grams-4") == ["<it>"]
    assert units("the", "words:grams-4") == ["<the", "the>"]


def test_a_very_long_word_is_parted_like_several() -> None:
    assert units("x" * 258, "words:grams-4") == units(f"{'x' * 256} xx", "words:grams-4")


def test_lists_of_words_keep_their_words() -> None:
    assert tokenize_list(["New York", "漢字"], "words").units == ["New York", "漢字"]
    assert tokenize_list(["New"], "words:grams-4").units == ["<New", "New>"]


def test_a_unit_says_which_words_it_came_from() -> None:
    assert tokenize("漢字 go", "words").origins == [(0, 0), (0, 1), (1, 1), (2, 2)]
    assert tokenize("to see", "words:grams-4").origins == [(0, 0), (1, 1), (1, 1)]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("words", Units(True, 0)),
        ("grams", Units(False, 4)),
        ("words+grams", Units(True, 4)),
        ("grams-2", Units(False, 2)),
        ("words+grams-8", Units(True, 8)),
    ],
)
def test_units_have_names(name: str, expected: Units) -> None:
    assert Units.named(name) == expected
    assert Units.named(expected.name) == expected
    assert units_of(full_name("words", expected)) == expected


@pytest.mark.parametrize("name", ["", "gram", "grams-1", "grams-9", "+grams", "wordsgrams", None])
def test_other_names_of_units_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=r"units must be 'auto', 'words', .* got"):
        Units.named(name)


def test_a_name_stands_for_one_rule_for_ever() -> None:
    assert full_name("words", Units.named("words")) == "words"
    assert full_name("whitespace", Units.named("grams")) == "whitespace:grams-4"
    assert plain_name("words:grams-4") == plain_name("words") == "words"


def test_a_rule_of_another_version_is_refused() -> None:
    for name in ("words-3", "words:stems"):
        with pytest.raises(InputError):
            rules.rule(name)


def test_an_explanation_in_characters_adds_up_to_the_cosine() -> None:
    model = dv.fit(["东京的夜景", "京都的红叶", "东京塔 Tokyo", "大阪的夜景"])
    why = model.explain("东京夜景 Tokyo", "京都夜景")
    assert {len(share.word) for share in why.words_b} == {1}
    for words, offset in ((why.words_a, why.offset_a), (why.words_b, why.offset_b)):
        assert sum(share.share for share in words) + offset == pytest.approx(why.cosine, abs=1e-9)
    assert why.unknown_a == ()


@pytest.mark.parametrize("name", ["words:words+grams-4", "words:grams-8"])
def test_units_that_meet_in_one_slot_are_told_apart(name: str) -> None:
    text = " ".join(f"extra{number:03}" for number in range(400))  # so many meet in some slots
    expected = units(text, name)
    vocabulary = Vocabulary.of(dict.fromkeys(expected))
    (found,) = ids_of(as_text_batch([text], name), vocabulary, 1)
    assert found[:-1].tolist() == vocabulary.ids(expected).tolist()
