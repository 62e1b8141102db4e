"""What hypothesis draws: text in any script, corpora, and word vectors, kind and unkind."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

import reference

Matrix = npt.NDArray[np.float32]

# The library's table of word characters is frozen at Unicode 14; the reference reads the
# interpreter's. Where these differ, only characters are drawn that no later version assigned.
UNICODE_14 = unicodedata.unidata_version == "14.0.0"

CURIOUS = [
    *"aAzZ09_-' \t\n",
    *"ßẞİIıiſKÅΣσςǅǄǆŉΐﬁﬀ",  # lower case that is longer, elsewhere, titled, or not there
    "K",  # U+212A, the Kelvin sign: its lower case is an ASCII letter
    "Ω",  # U+2126, the Ohm sign: a shorter lower case
    *"ȺȾ",  # a longer lower case in UTF-8 (two bytes to three)
    *"\u0301\u0308\u0345\u20dd\ufe0f",  # combining and enclosing marks, a variation selector
    *"किंिुা்ಾේ",  # Indic letters and vowel signs, which `\w` drops
    *"กำลัง가각한",
    *"אָبَ٠١۲०৫๓߀०",  # right to left, with points; digits of many scripts
    *"一丁㐀𠀀々〇ーｱＡ０",
    *"ⅫⅻⒶ²½①㊀",  # numbers that are no digits; letters that are none (Ⓐ is a symbol)
    *"𝐀𝟘𞤀𐐀𐲀🄰",  # astral letters, some with a lower case
    *"😀👩🏽🏳",
    *"\u200d\u200c\u200b\u00ad\ufeff\ufffd\u2028\u00a0\u3000\u0085",
    *"\x00\x01\x1f\x7f\x9f",
    *"\ufdd0\uffff\U0010ffff\ue000",  # no characters, and private ones
    *"‿⁀＿・·’",  # punctuation that connects, and does not belong to words
]

BROKEN = [
    b"\x80",  # a continuation without a beginning
    b"\xbf\xbf",
    b"\xc0\xaf",  # an overlong slash
    b"\xc1\xa1",  # an overlong letter
    b"\xc3",  # a beginning without an end
    b"\xe0\x80\xaf",
    b"\xe0\x81\xa1",  # an overlong letter in three bytes
    b"\xe4\xb8",
    b"\xed\xa0\x80",  # a surrogate
    b"\xed\xa0\xbd\xed\xb8\x80",  # a pair of them
    b"\xf0\x80\x81\xa1",
    b"\xf0\x9f\x98",
    b"\xf0\x9f",
    b"\xf4\x90\x80\x80",  # above the last code point
    b"\xf5\x80\x80\x80",
    b"\xf8\x88\x80\x80\x80",
    b"\xfe",
    b"\xff",
    b"\xe4A",
    b"\xf0\x9f\x98a",
    b"\xc3\xc3\xa9",
]


def characters() -> st.SearchStrategy[str]:
    """Any character, curious ones often."""
    any_character = st.characters(
        exclude_categories=["Cs"], max_codepoint=None if UNICODE_14 else 0x7FF
    )
    return st.one_of(st.sampled_from(CURIOUS), any_character, st.sampled_from("abcxyzABC "))


def texts(max_size: int = 40) -> st.SearchStrategy[str]:
    """Text in any script."""
    return st.text(characters(), max_size=max_size)


def utf8_and_not() -> st.SearchStrategy[bytes]:
    """Bytes that are text with broken parts in it."""
    part = st.one_of(
        st.sampled_from(BROKEN),
        texts(max_size=6).map(str.encode),
        st.binary(max_size=4),
        # The first bytes of a character: what a cut in the wrong place leaves.
        st.tuples(characters(), st.integers(1, 3)).map(lambda cut: cut[0].encode()[: cut[1]]),
    )
    return st.lists(part, max_size=12).map(b"".join)


def spaced_characters() -> st.SearchStrategy[str]:
    """Any character of a script that puts spaces between words, as the paper's words need."""
    return characters().filter(lambda character: not reference.is_unspaced(character))


def word_characters() -> st.SearchStrategy[str]:
    """A character that words are made of."""
    return spaced_characters().filter(reference.is_word_character)


def vocabularies(min_size: int = 1, max_size: int = 20) -> st.SearchStrategy[list[str]]:
    """Distinct words of any script, as they come out of the tokenizer."""
    word = st.text(word_characters(), min_size=1, max_size=4).map(
        lambda text: "".join(reference.lower(character) for character in text)
    )
    plain = st.sampled_from(
        ["the", "room", "was", "clean", "staff", "pool", "a", "of", "and", "hôtel", "breakfast"]
    )
    return st.lists(st.one_of(plain, word), min_size=min_size, max_size=max_size, unique=True)


SEPARATORS = [" ", ", ", "\n", ". ", "-", "  ", "\t", " 😀 ", "\u200d", "’", "\u3000", "\x00"]


def shouted(word: str) -> str:
    """The word in upper case, as far as it reads the same in lower case."""
    return "".join(
        upper if len(upper) == 1 and reference.lower(upper) == character else character
        for character, upper in zip(word, map(str.upper, word), strict=True)
    )


def documents_over(vocabulary: list[str], max_words: int = 12) -> st.SearchStrategy[str]:
    """A text of words of a vocabulary, the first ones often (the minimum of two draws)."""
    number = st.integers(0, len(vocabulary) - 1)
    place = st.tuples(number, number).map(min)
    spelled = st.tuples(place, st.booleans()).map(
        lambda drawn: shouted(vocabulary[drawn[0]]) if drawn[1] else vocabulary[drawn[0]]
    )
    part = st.tuples(spelled, st.sampled_from(SEPARATORS)).map("".join)
    return st.lists(part, max_size=max_words).map("".join)


@st.composite
def vectors_for(draw: st.DrawFn, vocabulary: list[str], max_dimensions: int = 10) -> Matrix:
    """A matrix of word vectors, none of them zero.

    Half of the time random directions; else small whole numbers, so that equal, opposite and
    orthogonal vectors and dimensions without any content turn up, and K = 1.
    """
    V = len(vocabulary)
    if draw(st.booleans()):
        K = draw(st.integers(2, max_dimensions))
        seed = draw(st.integers(0, 2**32 - 1))
        return np.random.default_rng(seed).standard_normal((V, K)).astype(np.float32)
    K = draw(st.integers(1, 4))
    row = st.lists(st.integers(-2, 2), min_size=K, max_size=K).filter(any)
    rows = draw(st.lists(row, min_size=V, max_size=V))
    return np.array(rows, dtype=np.float32)


@st.composite
def small_corpora(draw: st.DrawFn, vocabulary: list[str], min_size: int = 1) -> list[str]:
    """A few short documents over a vocabulary: empty, foreign, just one, or all the same."""
    foreign = st.text(spaced_characters(), max_size=40)
    document = st.one_of(documents_over(vocabulary), documents_over(vocabulary), foreign)
    kind = draw(st.sampled_from(["any", "any", "any", "any", "one", "equal"]))
    if kind == "equal":
        return [draw(document)] * draw(st.integers(max(2, min_size), 4))
    size = 1 if kind == "one" else 8
    return draw(st.lists(document, min_size=min_size, max_size=max(size, min_size)))


@st.composite
def natural_corpora(draw: st.DrawFn, vocabulary: list[str]) -> list[str]:
    """Some dozens of documents of some dozens of words, with frequencies as Zipf found them."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ranks = np.arange(len(vocabulary))
    p = 1.0 / (ranks + 1)
    lengths = random.integers(0, 30, size=draw(st.integers(2, 30)))
    numbers = random.choice(ranks, size=lengths.sum(), p=p / p.sum())
    ends = np.cumsum(lengths)
    return [
        " ".join(vocabulary[number] for number in numbers[end - length : end])
        for length, end in zip(lengths, ends, strict=True)
    ]


@dataclass(frozen=True)
class Batches:
    """A corpus that comes so many documents at a time, as a file does."""

    documents: Sequence[Any]
    size: int
    one_shot: bool = False

    def __iter__(self) -> Iterator[Sequence[Any]]:
        for first in range(0, len(self.documents), self.size):
            yield self.documents[first : first + self.size]


class Problem(NamedTuple):
    """A corpus to fit on, texts to embed, and the word vectors."""

    corpus: list[str]
    texts: list[str]
    words: list[str]
    matrix: Matrix

    @property
    def vectors(self) -> dict[str, reference.Vector]:
        """The word vectors as the reference takes them."""
        return reference.unit_vectors(dict(zip(self.words, self.matrix, strict=True)))

    @property
    def is_learnable(self) -> bool:
        """Whether any word of the corpus has a vector, so that there is something to learn."""
        return any(word in self.words for text in self.corpus for word in reference.words(text))


@st.composite
def natural_problems(draw: st.DrawFn) -> Problem:
    """Documents of many words whose vectors point everywhere."""
    vocabulary = draw(vocabularies(min_size=8))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    words = [vocabulary[number] for number in random.permutation(len(vocabulary))[1:]]
    shape = (len(words), draw(st.integers(3, 10)))
    matrix = random.standard_normal(shape).astype(np.float32)
    corpus = draw(natural_corpora(vocabulary))
    others = draw(natural_corpora(vocabulary))
    return Problem(corpus, corpus + others, words, matrix)


@st.composite
def awkward_problems(draw: st.DrawFn) -> Problem:
    """Short documents, few of them, whose vectors may well be equal or cancel each other."""
    vocabulary = draw(vocabularies())
    known = draw(st.integers(min(len(vocabulary), 3), len(vocabulary)))
    words = draw(st.permutations(vocabulary[:known]))
    corpus = draw(st.one_of(natural_corpora(vocabulary), small_corpora(vocabulary)))
    foreign = st.text(spaced_characters(), max_size=40)
    others = draw(st.lists(st.one_of(documents_over(vocabulary), foreign), max_size=4))
    return Problem(corpus, corpus + others, words, draw(vectors_for(words)))


def problems() -> st.SearchStrategy[Problem]:
    """A whole problem; some words of the texts have no vector, some vectors have no word."""
    return st.one_of(natural_problems(), awkward_problems())


def learnable_problems() -> st.SearchStrategy[Problem]:
    """A problem that a model can be fitted to."""
    return problems().filter(lambda problem: problem.is_learnable)
