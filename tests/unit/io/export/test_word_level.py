"""The tokenizer that goes with an exported model, written by hand."""

import json

import numpy as np
import pytest

import deltavec as dv
from deltavec.core.text.rules import rule
from deltavec.io.export.export import (
    ranges,
    share_of_pairs,
    shifts_of,
    unknown,
    word_level_tokenizer,
)


def test_ranges_name_the_first_and_the_last_of_each_run():
    chosen = np.zeros(200, np.bool_)
    chosen[[0x30, 0x31, 0x32, 0x41]] = True
    assert ranges(chosen) == r"\x{30}-\x{32}\x{41}-\x{41}"
    assert ranges(np.array([True, True])) == r"\x{0}-\x{1}"


def test_the_id_of_a_word_is_its_place_plus_one():
    written = word_level_tokenizer("words", ["room", "sea"])
    assert written["model"]["vocab"] == {"[UNK]": 0, "room": 1, "sea": 2}
    assert written["added_tokens"] == []  # one would be looked for in the text as it stands
    json.dumps(written)


def test_only_rules_that_lower_case_do_so():
    assert word_level_tokenizer("whitespace", ["Sea"])["normalizer"] is None
    steps = word_level_tokenizer("words", ["sea"])["normalizer"]["normalizers"]
    assert [step["type"] for step in steps] == ["Replace", "Replace", "Lowercase", "Replace"]


def test_a_word_may_be_called_as_unknown_ones_are():
    assert unknown(["sea"]) == "[UNK]"
    assert unknown(["[UNK]", "[[UNK]]"]) == "[[[UNK]]]"


def test_the_table_of_a_rule_is_left_as_it_is():
    before = rule("words").pages.copy()
    word_level_tokenizer("words", [])
    assert np.array_equal(rule("words").pages, before)
    assert len(shifts_of("words")) == 0x110000


def test_pairs_of_neighbors_are_counted_by_how_often_they_stand_in_the_corpus():
    vectors = dv.WordVectors(["room", "漢", "字", "漢字", "ก็"], np.eye(5))
    model = dv.fit(["room 漢字", "room room", "ก็"], vectors, "unit-sum")
    # room three times, 漢, 字, 漢字 and ก็ (one character and its mark) once each
    assert share_of_pairs(model) == pytest.approx(1 / 7)
