import itertools
from itertools import pairwise

import numpy as np
import pytest

import deltavec as dv
from deltavec.core.batching import count_batch
from deltavec.core.kernels.count import COUNTS, TOTALS
from deltavec.core.kernels.tokenize import LONGEST_LEARNED
from deltavec.core.learning.vocabulary_builder import (
    AskedUnits,
    WordCounts,
    choose_units,
    frequent_words,
    usual_min_count,
    word_counts,
)
from deltavec.core.text.batches import as_corpus, as_text_batch
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import CorpusError, InputError


def test_words_come_most_frequent_first_then_in_the_order_of_their_bytes():
    counts = word_counts(as_corpus(["b a A", "é c a"]), "words")
    vocabulary, occurrences = counts.frequent(1)
    assert vocabulary.words == ["a", "b", "c", "é"]
    assert occurrences.tolist() == [3, 1, 1, 1]
    assert (counts.tokens, counts.distinct) == (6, 4)


def test_rare_words_are_left_out():
    assert frequent_words(word_counts(as_corpus(["a b a b c"]), "words"), 2).words == ["a", "b"]


def test_a_large_vocabulary_ends_with_the_frequent_words_unless_it_is_said_how_rare(monkeypatch):
    monkeypatch.setattr("deltavec.core.learning.vocabulary_builder.MOST_UNITS", 2)
    corpus = as_corpus(["a b a b a c"])
    assert frequent_words(word_counts(corpus, "words"), None).words == ["a", "b"]
    assert frequent_words(word_counts(corpus, "words"), 1).words == ["a", "b", "c"]


def test_the_table_grows_as_words_come(monkeypatch):
    monkeypatch.setattr("deltavec.core.learning.vocabulary_builder.FIRST_ROOM", 2)
    words = [f"word-number-{i}" for i in range(200)]
    counts = WordCounts()
    counts.add(as_text_batch([words, words[:50]], "words"))
    vocabulary, occurrences = counts.frequent(1)
    assert sorted(vocabulary.words) == sorted(words)
    assert occurrences.sum() == 250


def test_a_word_too_long_to_learn_is_passed():
    long = "x" * (LONGEST_LEARNED + 1)
    counts = word_counts(as_corpus([f"{long} a {long[:-1]}"]), "words")
    assert counts.tokens == 3
    assert sorted(counts.frequent(1)[0].words) == ["a", long[:-1]]


def test_smaller_corpora_keep_rarer_words():
    assert [usual_min_count(tokens) for tokens in (2_999, 3_000, 300_000)] == [1, 2, 5]


@pytest.mark.parametrize(
    ("documents", "min_count", "message"),
    [
        ([], None, "holds no words"),
        (["?"], None, "holds no words"),
        (["a a b"], 2, r"2 words that occur 2 times or more, and the corpus has 1 \(of 2 distinct"),
    ],
)
def test_too_little_text_to_learn_from_is_refused(documents, min_count, message):
    with pytest.raises(CorpusError, match=message):
        frequent_words(word_counts(as_corpus(documents), "words"), min_count)


def test_every_word_keeps_its_bytes():
    words = ["a", "abcdefgh", "abcdefghi", "größe", "слово", "x" * 30]
    counts = WordCounts()
    counts.add(as_text_batch([" ".join(words)], "words"))
    vocabulary, _ = counts.frequent(1)
    assert sorted(vocabulary.words) == sorted(words)
    assert np.array_equal(np.sort(vocabulary.ids(words)), np.arange(6))


def test_a_run_longer_than_any_word_is_decoded_to_its_end():
    run = "слово—Слово—another—" * 100
    assert len(run.encode()) > 2 * LONGEST_LEARNED
    counts = word_counts(as_corpus([run, f"слово {run}"]), "words")
    vocabulary, occurrences = counts.frequent(1)
    assert vocabulary.words == ["слово", "another"]
    assert occurrences.tolist() == [401, 200]
    known = count_batch(
        as_text_batch([run], "words"), Vocabulary.of(["слово", "another", "слово—слово"])
    )
    assert known.token_counts.tolist() == [200, 100, 0]


def listed(counts, documents):
    found = counts.listed(as_text_batch(documents, "words"))
    begins = found.ends.tolist()
    counted = zip(COUNTS[found.counts].tolist(), TOTALS[found.counts].tolist(), strict=True)
    pairs = [(id, *n) for id, n in zip(found.ids.tolist(), counted, strict=True)]
    return [pairs[a:b] for a, b in pairwise(begins)], found.lengths.tolist()


def test_documents_list_their_different_words_without_single_characters():
    counts = WordCounts()
    assert listed(counts, ["sea room sea a", "", "b room"]) == (
        [[(0, 2, 4), (1, 1, 2)], [], [(1, 1, 2)]],
        [6, 0, 2],
    )
    assert listed(counts, ["new sea"]) == ([[(4, 1, 2), (0, 1, 2)]], [4])
    assert counts.vocabulary.words == ["sea", "room", "a", "b", "new"]
    assert counts.tokens == 8


def test_listing_makes_room_in_the_middle_of_a_document(monkeypatch):
    monkeypatch.setattr("deltavec.core.learning.vocabulary_builder.FIRST_ROOM", 2)
    words = [f"w{i}" for i in range(200)]
    found, lengths = listed(WordCounts(), [" ".join(words + words), "w7"])
    assert found == [[(i, 2, 2 + (i < 25)) for i in range(200)], [(7, 1, 2)]]
    assert lengths == [425, 2]


def test_a_word_is_listed_255_times_at_most():
    assert listed(WordCounts(), ["sea " * 300]) == ([[(0, 255, 258)]], [325])


def test_the_lead_of_words_with_n_grams_is_as_many_words():
    found = WordCounts().listed(as_text_batch(["seas " * 33], "words:words+grams-4"))
    # <seas>, <sea, seas, eas>: 125 units are 31 words and a part.
    assert COUNTS[found.counts].tolist() == [32, 32, 32, 32]
    assert found.lengths.tolist() == [4 * 33 + 125]


ROOTS = ["talo", "koira", "kirja", "puu", "meri", "katu", "sana", "maa"]
ENDINGS = ["ssa", "sta", "lla", "lta", "lle", "ksi", "tta", "in", "ni", "mme"]


def corpus_with(once: int, others: int) -> list[str]:
    """Documents with so many words that stand nowhere else, and so many that stand everywhere."""
    letters = "".join(chr(ord("a") + place) for place in range(26))
    rare = ("".join(word) for word in itertools.product(letters, repeat=4))
    words = [*itertools.islice(rare, once), *(["the room"] * (others // 2))]
    return [" ".join(words[place : place + 50]) for place in range(0, len(words), 50)]


def counted(documents: list[str]) -> WordCounts:
    return word_counts(as_corpus(documents), "words")


@pytest.mark.parametrize(
    ("once", "others", "expected"),
    [
        (100, 800, "words"),  # too small
        (100, 4_000, "words"),
        (400, 4_000, "words+grams-4"),
        (2_000, 2_000, "grams-4"),
    ],
)
def test_units_follow_the_share_of_words_that_stand_nowhere_else(
    once: int, others: int, expected: str
) -> None:
    units, reason = choose_units(counted(corpus_with(once, others)))
    assert units == expected
    assert reason


def test_a_large_corpus_is_counted_in_words() -> None:
    counts = counted(corpus_with(2_000, 2_000))
    counts.tokens = 1_000_000
    assert choose_units(counts) == ("words", "the corpus has 1,000,000 of them")


def test_lists_of_words_are_counted_as_they_are() -> None:
    model = dv.fit([text.split() for text in corpus_with(2_000, 2_000)])
    assert model.info()["units"] == "words: documents were given as lists of words"


@pytest.mark.filterwarnings("ignore::deltavec.errors.SmallModelWarning")
def test_a_model_says_what_was_chosen_and_why() -> None:
    documents = corpus_with(2_000, 2_000)
    assert dv.fit(documents).info()["units"] == (
        "grams-4: 50.0% of 4,000 words occur only once, at least 25%"
    )
    asked = dv.fit(documents, units="words+grams-3")
    assert asked.info()["units"] == "words+grams-3: as asked for"
    assert asked.tokenizer == "words:words+grams-3"
    assert asked.info()["tokenizer"] == "words"
    assert dv.fit(documents, units="words").info()["units"] == "words: as asked for"


def test_forms_of_a_word_are_alike_where_runs_are_counted() -> None:
    documents = [f"{a}{x} {a}{y} {b}{x}" for a, b in itertools.pairwise(ROOTS)
                 for x, y in itertools.pairwise(ENDINGS)]  # fmt: skip
    model = dv.fit(documents, units="grams", recipe=dv.Recipe(form="spectral", dimensions=8))
    known, unseen, other = model.embed(["talossa", "talomme", "merelle"])
    assert known @ unseen > known @ other


def test_units_and_vectors_do_not_go_together() -> None:
    vectors = dv.WordVectors(["sea", "room"], [[1, 0], [0, 1]])
    with pytest.raises(InputError, match=r"'grams' are learned from the corpus.*leave the vectors"):
        dv.fit(["sea", "room"], vectors, units="grams")
    assert dv.fit(["sea", "room"], vectors).info()["units"] == "words: as usual"


def test_a_tokenizer_of_one_s_own_returns_its_own_units() -> None:
    with pytest.raises(InputError, match="let it return the units"):
        AskedUnits.of(str.split, "grams")
    assert not AskedUnits.of(str.split, "auto").open
    assert not AskedUnits.of("whitespace", "auto").open


def test_the_number_of_runs_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deltavec.core.learning.vocabulary_builder.MOST_UNITS", 40)
    model = dv.fit(
        corpus_with(200, 200), units="grams", recipe=dv.Recipe(form="spectral", dimensions=4)
    )
    assert len(model.vocabulary) == 40


def test_a_model_with_runs_is_saved_and_loaded(tmp_path) -> None:
    documents = corpus_with(200, 200)
    model = dv.fit(documents, units="words+grams", recipe=dv.Recipe(form="spectral", dimensions=4))
    model.save(tmp_path / "m.dv")
    loaded = dv.load(tmp_path / "m.dv")
    assert loaded.tokenizer == "words:words+grams-4"
    assert (loaded.embed(documents[:3]) == model.embed(documents[:3])).all()


def test_scripts_without_spaces_are_counted_in_characters_and_pairs() -> None:
    documents = ["".join(map(chr, range(7 * n, 7 * n + 20))) for n in range(0xB29, 0xB89)]
    assert choose_units(counted(documents)) == (
        "words",
        "most are characters of a script without spaces",
    )
