import unicodedata

import pytest

import reference
from deltavec.core.text import rules, tokenize
from deltavec.errors import InputError


def test_words_are_runs_of_letters_marks_numbers_and_underscore():
    assert tokenize.words("Wi-Fi: 5 stars, snake_case!") == ["wi", "fi", "5", "stars", "snake_case"]


def test_indic_vowel_signs_belong_to_the_word():
    assert tokenize.words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]


def test_each_code_point_is_lowered_on_its_own():
    assert tokenize.words("ΟΔΟΣ ǅ K") == ["οδοσ", "ǆ", "k"]


def test_a_lower_case_of_two_code_points_leaves_the_character_as_it_is():
    assert len("İ".lower()) == 2
    assert tokenize.words("İZMİR") == ["İzmİr"]


def test_whitespace_keeps_case_and_punctuation():
    assert tokenize.words("New_York\u00a0U.S. \u3000!", "whitespace") == ["New_York", "U.S.", "!"]


def test_whitespace_separates_where_python_does():
    every = [code_point for code_point in range(0x110000) if chr(code_point).isspace()]
    ranges = rules.parse_ranges(rules.WHITESPACE)
    assert [code for first, last in ranges for code in range(first, last + 1)] == every


@pytest.mark.skipif(
    unicodedata.unidata_version != "14.0.0", reason="the table is frozen at Unicode 14.0.0"
)
def test_the_table_is_the_rule_for_every_code_point():
    shifts = rules.shifts_of_words()
    for code_point in range(rules.CODE_POINTS):
        character = chr(code_point)
        if not reference.is_word_character(character):
            assert shifts[code_point] == rules.SEPARATOR
        elif reference.is_mark(character):
            assert shifts[code_point] == rules.MARK
        elif shifts[code_point] == rules.UNSPACED:
            assert character.lower() == character
        else:
            assert code_point + shifts[code_point] == ord(reference.lower(character))


def test_an_unknown_rule_is_refused():
    with pytest.raises(InputError, match=r"'words', 'whitespace', .* or a callable, got 'bpe'"):
        rules.rule("bpe")


def test_a_whole_word_beside_ngrams_is_marked():
    assert [rules.is_marked(unit) for unit in ("<sea>", "<se", "ea>", "sea", "")] == [
        True, False, False, False, False,
    ]  # fmt: skip
