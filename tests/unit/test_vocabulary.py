import numpy as np
import pytest

from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError

LONG = "a-word-of-more-than-eight-bytes"


def test_ids_are_places_and_unknown_words_have_none():
    vocabulary = Vocabulary.of(["sea", "größe", LONG])
    assert vocabulary.ids([LONG, "sea", "größe", "pool", LONG + "s"]).tolist() == [2, 0, 1, -1, -1]


def test_words_come_back_in_their_order():
    vocabulary = Vocabulary.of(["sea", "größe", LONG])
    assert vocabulary.words == ["sea", "größe", LONG]
    assert vocabulary.word(1) == "größe"


def test_words_of_the_same_start_and_length_are_told_apart():
    words = [LONG[:-1] + last for last in "abcdefgh"]
    assert Vocabulary.of(words).ids(words).tolist() == list(range(8))


def test_membership():
    vocabulary = Vocabulary.of(["sea"])
    assert "sea" in vocabulary
    assert "Sea" not in vocabulary
    assert 7 not in vocabulary


def test_a_word_twice_is_refused_by_name():
    with pytest.raises(InputError, match="distinct, got 'sea' twice"):
        Vocabulary.of(["sea", "room", "sea"])


def test_words_can_be_taken_in_another_order():
    taken = Vocabulary.of(["sea", "room", "pool"]).taken(np.array([2, 0]))
    assert taken.words == ["pool", "sea"]
    assert taken.ids(["sea", "room"]).tolist() == [1, -1]


def test_no_words_are_a_vocabulary_too():
    empty = Vocabulary.of([])
    assert len(empty) == 0
    assert empty.ids(["sea"]).tolist() == [-1]
