"""What a word is, and a unit: rules as tables of character classes, each with a name for ever.

A word is a maximal run of word characters, each replaced by its lower case. Every rule is a
table over code points, so one kernel reads them all; the slow reference that defines them is
`deltavec.core.text.tokenize`.

``words-2``
    letters, marks, numbers (Unicode categories L, M, N) and underscore, lower-cased code point by
    code point; one whose lower case is longer than one code point stays as it is. The table is
    frozen at Unicode 14. Where a script puts no spaces between words (Han, Kana, Thai, Lao, Khmer,
    Myanmar), every character is a word, with the marks that follow it, and so is every two that
    stand side by side. What a user calls ``words`` is this rule.
``words``
    the same without the sentence on scripts without spaces: models of before have it.
``whitespace``
    everything but white space, as it stands: for text that is already tokenised.
``tokens``
    internal: words that a caller's own tokenizer made, joined by the byte FF, which UTF-8 never
    uses.

Behind a colon a name may say what is counted instead of the words: ``words-2:grams-4``, the runs
of four characters of each word with ``<`` before and ``>`` behind it (a word that is shorter is one
run), or ``words-2:words+grams-4``, these and the word itself with both marks.

Before the colon ``+folded`` says that texts are written in one way first: ``words-2+folded``, see
`deltavec.core.text.normalize`.

The name of a rule never changes its meaning: it is stored with a model. The character U+0000
separates words under every rule, and so does a byte that is not UTF-8.
"""

from __future__ import annotations

import functools
import re
import sys
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Int64s, UInt8s
from deltavec.core.text.unicode14 import LOWER_CASE_RUNS, MARK_RANGES, UNSPACED_RANGES, WORD_RANGES
from deltavec.errors import InputError

CODE_POINTS = sys.maxunicode + 1
PAGE = 256
# No shift is as large: a shift plus a code point is one. What is no shift is not above SEPARATOR.
SEPARATOR = np.int32(-CODE_POINTS)
UNSPACED = np.int32(-CODE_POINTS - 1)  # a character of a script without spaces: its shift is 0
MARK = np.int32(-CODE_POINTS - 2)  # belongs to the character before it: its shift is 0
TOKEN_SEPARATOR = b"\xff"
CURRENT = {"words": "words-2"}
FOLDED = "+folded"
NORMALIZATIONS = ("none", "folded")
BEFORE_WORD, BEHIND_WORD = "<", ">"
USUAL_GRAM = 4
GRAMS = range(2, 9)
LONGEST_PARTED = 256  # characters; a longer word is parted into runs as several words are
UNITS = re.compile(rf"(words\+)?grams(?:-([{GRAMS[0]}-{GRAMS[-1]}]))?")
WHITESPACE = (
    *range(0x09, 0x0E),
    *range(0x1C, 0x21),
    *(0x85, 0xA0, 0x1680),
    *range(0x2000, 0x200B),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
)


class Rule(NamedTuple):
    """A rule for words, as the tables that the kernels read.

    Attributes
    ----------
    bytes
        For each byte the byte that stands for it in a word, 0 if it separates words. A part of a
        longer UTF-8 sequence stands for itself.
    decodes
        Whether bytes from 80 on are UTF-8 sequences to look up in the pages.
    page_of, pages
        ``pages[page_of[c // 256], c % 256]`` is the shift from code point c to its lower case,
        or ``SEPARATOR``, ``UNSPACED`` or ``MARK``.
    gram
        How many characters make a unit; 0 where words do.
    whole
        Whether the word is a unit as well, where characters make them.
    """

    bytes: npt.NDArray[np.uint8]
    decodes: bool
    page_of: npt.NDArray[np.uint8]
    pages: npt.NDArray[np.int32]
    gram: int = 0
    whole: bool = True

    def most_units(self, size: int, documents: int) -> int:
        """How many units so many bytes of so many documents can hold at most, and one more each."""
        # Runs of two: a letter and a blank are three units. Han: three bytes are two units.
        return (3 * size // 2 if self.gram else 2 * size // 3) + 3 * documents


class Texts(NamedTuple):
    """The documents' UTF-8 bytes, where each begins, and the rule that parts them into words."""

    data: UInt8s
    ends: Int64s
    rule: Rule

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self.ends) - 1


class Units(NamedTuple):
    """What is counted of each word: itself, or runs of so many characters, or both."""

    words: bool
    gram: int

    @classmethod
    def named(cls, name: str) -> Units:
        """The units of this name: ``words``, ``words+grams`` or ``grams``, or with ``-4`` behind.

        Examples
        --------
        >>> Units.named("grams"), Units.named("words+grams-3").name
        (Units(words=False, gram=4), 'words+grams-3')
        """
        if name == "words":
            return cls(True, 0)
        found = UNITS.fullmatch(name) if isinstance(name, str) else None
        if found is None:
            raise InputError(
                "units must be 'auto', 'words', 'words+grams' or 'grams', the latter two with a "
                f"length from {GRAMS[0]} to {GRAMS[-1]} behind if wanted ('grams-3'); got {name!r}"
            )
        return cls(found[1] is not None, int(found[2] or USUAL_GRAM))

    @property
    def name(self) -> str:
        """The name, with the length of runs."""
        if not self.gram:
            return "words"
        return f"{'words+' if self.words else ''}grams-{self.gram}"


def full_name(tokenizer: str, units: Units, normalization: str = "none") -> str:
    """The name of the rule that parts text in this way and counts these units, for ever.

    Examples
    --------
    >>> full_name("words", Units.named("grams"), "folded")
    'words-2+folded:grams-4'
    """
    base = CURRENT.get(tokenizer, tokenizer)
    if normalization == "folded":
        base += FOLDED
    return f"{base}:{units.name}" if units.gram else base


def with_units(name: str, units: Units) -> str:
    """The name of the rule that parts text as this one does, and counts these units."""
    base = name.partition(":")[0]
    return f"{base}:{units.name}" if units.gram else base


def is_folded(name: str) -> bool:
    """Whether texts are written in one way before the rule of this name parts them."""
    return name.partition(":")[0].endswith(FOLDED)


def unfolded(name: str) -> str:
    """The name of the rule that takes texts as this one does once they are written in one way."""
    return name.replace(FOLDED, "", 1)


def plain_name(name: str) -> str:
    """What a user calls the rule of this name, whatever its units and normalization."""
    base = name.partition(":")[0].removesuffix(FOLDED)
    return {full: plain for plain, full in CURRENT.items()}.get(base, base)


@functools.cache
def units_of(name: str) -> Units:
    """What the rule of this name counts."""
    _, colon, units = name.partition(":")
    return Units.named(units) if colon else Units(True, 0)


def shifts_of_words() -> npt.NDArray[np.int32]:
    """For each code point its shift to lower case, or ``SEPARATOR``, under ``words``."""
    shifts = np.full(CODE_POINTS, SEPARATOR, np.int32)
    fill(shifts, WORD_RANGES, 0)
    for first, last, step, shift in re.findall(r"(\w+)-(\w+)/(\d)([+-]\d+)", LOWER_CASE_RUNS):
        shifts[int(first, 16) : int(last, 16) + 1 : int(step)] = int(shift)
    return shifts


def shifts_of_words_2() -> npt.NDArray[np.int32]:
    """The same under ``words-2``; marks and characters of scripts without spaces are marked."""
    shifts = shifts_of_words()
    fill(shifts, MARK_RANGES, MARK)
    fill(shifts, UNSPACED_RANGES, UNSPACED)
    return shifts


def fill(shifts: npt.NDArray[np.int32], ranges: str, value: int | np.int32) -> None:
    """Write the value at every code point of the ranges."""
    for first, last in re.findall(r"(\w+)-(\w+)", ranges):
        shifts[int(first, 16) : int(last, 16) + 1] = value


def shifts_of_whitespace() -> npt.NDArray[np.int32]:
    """For each code point 0, or ``SEPARATOR``, under ``whitespace``."""
    shifts = np.zeros(CODE_POINTS, np.int32)
    shifts[list(WHITESPACE)] = SEPARATOR
    return shifts


def shifts_of_tokens() -> npt.NDArray[np.int32]:
    """For each code point 0: words of a caller are taken as they are."""
    return np.zeros(CODE_POINTS, np.int32)


def paged(shifts: npt.NDArray[np.int32]) -> Rule:
    """The rule whose table is ``shifts``, equal pages kept once."""
    shifts[0] = SEPARATOR
    shifts[0xD800:0xE000] = SEPARATOR  # surrogates are no characters
    shifts[0xFFFD] = SEPARATOR  # stands for bytes that are not UTF-8
    numbers: dict[bytes, int] = {}
    page_of = [
        numbers.setdefault(page.tobytes(), len(numbers)) for page in shifts.reshape(-1, PAGE)
    ]
    pages = np.frombuffer(b"".join(numbers), np.int32).reshape(-1, PAGE)
    each_byte = np.arange(PAGE, dtype=np.uint8)
    each_byte[:128] = np.where(shifts[:128] == SEPARATOR, 0, each_byte[:128] + shifts[:128])
    return frozen(Rule(each_byte, True, np.array(page_of, np.uint8), pages))


def frozen(rule: Rule) -> Rule:
    """The same rule, its arrays read-only: numba compiles a kernel once per kind of array."""
    for array in (rule.bytes, rule.page_of, rule.pages):
        array.flags.writeable = False
    return rule


def joined_bytes() -> Rule:
    """The rule for words that are joined by the byte FF."""
    every_byte = np.arange(PAGE, dtype=np.uint8)
    every_byte[TOKEN_SEPARATOR[0]] = 0
    return frozen(Rule(every_byte, False, np.zeros(1, np.uint8), np.zeros((1, 1), np.int32)))


TABLES = {
    "words-2": shifts_of_words_2,
    f"words-2{FOLDED}": shifts_of_words_2,
    "words": shifts_of_words,
    "whitespace": shifts_of_whitespace,
    "tokens": shifts_of_tokens,
}


@functools.cache
def rule(name: str) -> Rule:
    """The tables of the rule of this name."""
    base, colon, _ = name.partition(":")
    if base not in TABLES:
        raise InputError(
            "tokenizer must be 'words', 'whitespace', the name of one of others ('jieba', "
            f"'spacy:ja', 'module:function') or a callable, got {name!r}"
        )
    if not colon:
        return joined_bytes() if name == "tokens" else paged(TABLES[base]())
    units = units_of(name)
    # Decoded, as runs are of characters; the byte FF separates words as any that is not UTF-8 does.
    return paged(TABLES[base]())._replace(gram=units.gram, whole=units.words)


def rule_of_lists(name: str) -> Rule:
    """The rule for documents that are lists of words, beside texts under the rule of this name."""
    _, colon, units = name.partition(":")
    return rule(f"tokens{colon}{units}")


def shifts_of(characters: str, table: Rule) -> npt.NDArray[np.int32]:
    """For each character the shift to its lower case, or what it is instead."""
    codes = np.frombuffer(characters.encode("utf-32-le", "surrogatepass"), np.uint32)
    return table.pages[table.page_of[codes // PAGE], codes % PAGE]


def are_unspaced(characters: str) -> npt.NDArray[np.bool_]:
    """For each character whether it is of a script without spaces."""
    return np.asarray(shifts_of(characters, rule("words-2")) == UNSPACED)


def narrowest_rule() -> Rule:
    """The rule for which a word that it reads as it is written is one for every other rule too."""
    return rule("words-2")
