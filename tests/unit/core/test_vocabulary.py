import numpy as np
import pytest

from deltavec.core import vocabulary
from deltavec.core.arrays import pack
from deltavec.core.batching import count_batch
from deltavec.core.kernels import hashing
from deltavec.core.kernels import tokenize as token_kernels
from deltavec.core.kernels.ngrams import ScanInput
from deltavec.core.learning import vocabulary_builder
from deltavec.core.text.batches import as_text_batch
from deltavec.core.text.rules import TextBatch, rule
from deltavec.core.vocabulary import SECRET, Vocabulary
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
    # The hash of two packed integers is mixed(mixed(secret ^ first) ^ second): whoever knows the
    # secret can compute, for any other first one, a second that makes the two hashes equal.
    secret = int(SECRET)
    first, second = (int.from_bytes(half, "little") for half in (b"collisio", b"n-course"))
    for start in range(100):
        other = int.from_bytes(b"anyword%c" % (97 + start % 26), "little") + (start << 16)
        twin = mixed(secret ^ first) ^ second ^ mixed(secret ^ other)
        pair = [b"collision-course", other.to_bytes(8, "little") + twin.to_bytes(8, "little")]
        if not set(pair[1]) & {0x00, 0xFF}:
            break
    data, offsets = pack(pair)
    colliding = Vocabulary(data, offsets)
    words = [np.frombuffer(word, np.uint8) for word in pair]
    assert hashing.hash_word(words[0], SECRET) == hashing.hash_word(words[1], SECRET)
    assert [hashing.look_up(hashing.hash_word(w, SECRET), w, colliding.table) for w in words] == [
        0,
        1,
    ]
    only_first = Vocabulary.of(["collision-course"])
    assert hashing.look_up(hashing.hash_word(words[1], SECRET), words[1], only_first.table) == -1
    texts = TextBatch(*pack([b"\xff".join(pair)]), rule("tokens"))
    assert count_batch(texts, colliding).token_counts.tolist() == [1, 1]
    assert count_batch(texts, only_first).token_counts.tolist() == [1]
    ids, word = np.empty(2, np.int32), np.empty(16, np.uint8)
    for one, known in ((colliding, 2), (only_first, 1)):
        text = ScanInput(texts.data, texts.rule, one.table, word, ids, False)
        found = token_kernels.scan(text, 0, len(texts.data), ())
        assert found[1] == known
        assert ids[:known].tolist() == [0, 1][:known]


def mixed(number: int) -> int:
    return int(hashing.mix(np.uint64(number)))


def unmixed(number: int) -> int:
    """The integer whose hash this is."""
    for constant in (hashing.MIX_2, hashing.MIX_1):
        number ^= number >> 32
        number = number * pow(int(constant), -1, 1 << 64) % (1 << 64)
    return number


def test_words_chosen_to_meet_in_one_slot_do_not():
    # Hashes that end in the same 32 bits, if they did not begin with a secret.
    hashes = [number << 32 | 0xC0FFEE for number in range(2_000)]
    chosen = [unmixed(unmixed(number)).to_bytes(8, "little") for number in hashes]
    plain = [hashing.hash_word(np.frombuffer(word, np.uint8), np.uint64(0)) for word in chosen]
    assert [int(number) for number in plain] == hashes
    taken = Vocabulary(*pack(chosen)).table.slots[1::2] != 0
    free = np.flatnonzero(~np.concatenate([taken, taken]))
    assert np.diff(free).max() < 200


def test_ids_do_not_depend_on_the_secret(monkeypatch):
    texts = as_text_batch(["the sea, the Größe of a-word-of-many-bytes", "日本 sea"], "words")
    seen = []
    for secret in (0, 1, 2**63 + 12345):
        monkeypatch.setattr(vocabulary, "SECRET", np.uint64(secret))
        monkeypatch.setattr(vocabulary_builder, "SECRET", np.uint64(secret))
        counts = vocabulary_builder.WordCounts()
        counts.add(texts)
        known, frequencies = counts.frequent(1)
        again = count_batch(texts, known).token_counts
        seen.append(
            (known.words, known.ids(["sea", "pool"]).tolist(), *map(list, (frequencies, again)))
        )
    assert seen[0] == seen[1] == seen[2]
    assert seen[0][1] == [seen[0][0].index("sea"), -1]


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
    own_words = TextBatch(*pack([b"\xff".join(w.encode() for w in text.split())]), rule("tokens"))
    assert count_batch(own_words, curious).token_counts.tolist() == [1, 1, 1, 1]
    assert count_batch(as_text_batch([text], "whitespace"), curious).token_counts.tolist() == [
        1,
        1,
        1,
        1,
    ]
    assert count_batch(as_text_batch([text], "words"), curious).token_counts.tolist() == [
        3,
        0,
        0,
        0,
    ]


def test_room_for_documents_is_used_again_but_not_by_two_at_once():
    vocabulary = Vocabulary.of(["sea", "room"])
    with vocabulary.scratch() as one, vocabulary.scratch() as another:
        assert one is not another
    with vocabulary.scratch() as again, vocabulary.scratch() as more:
        assert {id(again), id(more)} == {id(one), id(another)}


def test_room_is_given_up_where_an_error_may_have_left_counts_in_it():
    vocabulary = Vocabulary.of(["sea"])
    with pytest.raises(ValueError, match="stop"), vocabulary.scratch() as spoilt:
        raise ValueError("stop")
    with vocabulary.scratch() as fresh:
        assert fresh is not spoilt
