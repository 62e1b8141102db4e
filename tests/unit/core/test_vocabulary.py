import numpy as np
import pytest

from deltavec.core import kernels
from deltavec.core.kernels import Texts
from deltavec.core.packing import packed
from deltavec.core.passes import counted
from deltavec.core.texts import as_texts
from deltavec.core.tokens import rule
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


def test_words_of_equal_hashes_are_told_apart_by_their_bytes():
    # The hash of two packed integers is mixed(mixed(first) ^ second): for any other first one, a
    # second that makes the two hashes equal can be computed.
    first, second = (int.from_bytes(half, "little") for half in (b"collisio", b"n-course"))
    for start in range(100):
        other = int.from_bytes(b"anyword%c" % (97 + start % 26), "little") + (start << 16)
        twin = mixed(first) ^ second ^ mixed(other)
        pair = [b"collision-course", other.to_bytes(8, "little") + twin.to_bytes(8, "little")]
        if not set(pair[1]) & {0x00, 0xFF}:
            break
    data, offsets = packed(pair)
    colliding = Vocabulary(data, offsets)
    words = [np.frombuffer(word, np.uint8) for word in pair]
    assert kernels.hashed(words[0]) == kernels.hashed(words[1])
    assert [kernels.found(kernels.hashed(w), w, colliding.table) for w in words] == [0, 1]
    only_first = Vocabulary.of(["collision-course"])
    assert kernels.found(kernels.hashed(words[1]), words[1], only_first.table) == -1
    texts = Texts(*packed([b"\xff".join(pair)]), rule("tokens"))
    assert counted(texts, colliding).token_counts.tolist() == [1, 1]
    assert counted(texts, only_first).token_counts.tolist() == [1]


def mixed(number: int) -> int:
    return int(kernels.mixed(np.uint64(number)))


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


def test_words_no_rule_would_read_as_written_are_found_by_who_asks_for_them():
    curious = Vocabulary.of(["été", "Été", "d’été", "😀"])
    assert curious.ids(["Été", "d’été", "😀", "été"]).tolist() == [1, 2, 3, 0]
    text = "Été d’été été 😀"
    own_words = Texts(*packed([b"\xff".join(w.encode() for w in text.split())]), rule("tokens"))
    assert counted(own_words, curious).token_counts.tolist() == [1, 1, 1, 1]
    assert counted(as_texts([text], "whitespace"), curious).token_counts.tolist() == [1, 1, 1, 1]
    assert counted(as_texts([text], "words"), curious).token_counts.tolist() == [3, 0, 0, 0]
