import itertools

import pytest

import deltavec as dv
from deltavec.core.learning.vocabulary_builder import WordCounts, word_counts
from deltavec.core.text.batches import as_corpus
from deltavec.core.text.feature_choice import AskedUnits, choose_units
from deltavec.errors import InputError

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
