"""Tokenizer rules as tables of character classes.

A token is a maximal run of token characters, each replaced by its lower case. Every rule is a table
over code points, so one kernel reads them all. `deltavec.core.text.tokenize` is the slow reference.

``words``
    Letters, marks, numbers (Unicode categories L, M, N) and underscore, lower-cased code point by
    code point. A character whose lower case is longer than one code point stays as it is. The table
    is frozen at Unicode 14. In scripts without spaces (Han, Kana, Thai, Lao, Khmer, Myanmar) every
    character is a token, with the marks that follow it, and so is every pair of neighbors.
``whitespace``
    Everything but white space, as it is: for text that is already tokenized.
``tokens``
    Internal: tokens of a caller's own tokenizer, joined by the byte FF, which UTF-8 never uses.

After a colon, a name says what is counted instead of words: ``words:grams-4`` counts the character
4-grams of each word with ``<`` before and ``>`` after it, and a shorter word as one n-gram.
``words:words+grams-4`` counts these and the marked word itself. Before the colon, ``+folded``
normalizes the text first: see `deltavec.core.text.normalize`.

A model stores the name of its rule, so a name never changes its meaning. U+0000 and bytes that are
not UTF-8 separate tokens under every rule.
"""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Int64s, UInt8s
from deltavec.errors import InputError

CODE_POINTS = sys.maxunicode + 1
PAGE = 256
# No shift is as large: a shift plus a code point is one. What is no shift is not above SEPARATOR.
SEPARATOR = np.int32(-CODE_POINTS)
UNSPACED = np.int32(-CODE_POINTS - 1)  # a character of a script without spaces: its shift is 0
MARK = np.int32(-CODE_POINTS - 2)  # belongs to the character before it: its shift is 0
TOKEN_SEPARATOR = b"\xff"
FOLDED = "+folded"
NORMALIZATIONS = ("none", "folded")
BEFORE_WORD, BEHIND_WORD = "<", ">"
USUAL_GRAM = 4
GRAMS = range(2, 9)
LONGEST_WORD = 256  # characters; n-grams of a longer word are those of several words
UNITS = re.compile(rf"(words\+)?grams(?:-([{GRAMS[0]}-{GRAMS[-1]}]))?")
WHITESPACE = "9-D 1C-20 85-85 A0-A0 1680-1680 2000-200A 2028-2029 202F-202F 205F-205F 3000-3000"


class Rule(NamedTuple):
    """A tokenizer rule, as the tables that kernels read.

    Attributes
    ----------
    bytes
        For each byte its lower case, 0 if it separates words. A byte of a longer UTF-8 sequence
        stays as it is.
    decodes
        Whether bytes from 80 on are UTF-8 sequences to look up in the pages.
    page_of, pages
        ``pages[page_of[c // 256], c % 256]`` is the shift from code point c to its lower case,
        or ``SEPARATOR``, ``UNSPACED`` or ``MARK``.
    gram
        The length of character n-grams; 0 if words are counted.
    whole
        Whether words are counted besides their n-grams.
    """

    bytes: npt.NDArray[np.uint8]
    decodes: bool
    page_of: npt.NDArray[np.uint8]
    pages: npt.NDArray[np.int32]
    gram: int = 0
    whole: bool = True


class TextBatch(NamedTuple):
    """The documents' UTF-8 bytes, where each begins, and the tokenizer rule."""

    data: UInt8s
    ends: Int64s
    rule: Rule

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return len(self.ends) - 1


class Units(NamedTuple):
    """What is counted of each word: itself, its character n-grams, or both."""

    words: bool
    gram: int

    @classmethod
    def named(cls, name: str) -> Units:
        """The units of this name: ``words``, ``words+grams`` or ``grams``, or with ``-4`` added.

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
                f"length from {GRAMS[0]} to {GRAMS[-1]} added if wanted ('grams-3'); got {name!r}"
            )
        return cls(found[1] is not None, int(found[2] or USUAL_GRAM))

    @property
    def name(self) -> str:
        """The name, with the length of n-grams."""
        if not self.gram:
            return "words"
        return f"{'words+' if self.words else ''}grams-{self.gram}"


def full_name(tokenizer: str, units: Units, normalization: str = "none") -> str:
    """The name of the rule with this tokenizer, these units and this normalization.

    Examples
    --------
    >>> full_name("words", Units.named("grams"), "folded")
    'words+folded:grams-4'
    """
    base = f"{tokenizer}{FOLDED}" if normalization == "folded" else tokenizer
    return f"{base}:{units.name}" if units.gram else base


def with_units(name: str, units: Units) -> str:
    """The name of the rule that tokenizes like this one and counts these units."""
    return full_name(name.partition(":")[0], units)


def is_marked(unit: str) -> bool:
    """Whether a unit that is counted beside n-grams is a whole word."""
    return unit[:1] == BEFORE_WORD and unit[-1:] == BEHIND_WORD


def is_folded(name: str) -> bool:
    """Whether texts are normalized before the rule of this name tokenizes them."""
    return name.partition(":")[0].endswith(FOLDED)


def plain_name(name: str) -> str:
    """The tokenizer of the rule of this name, without units and normalization."""
    return name.partition(":")[0].removesuffix(FOLDED)


@functools.cache
def units_of(name: str) -> Units:
    """What the rule of this name counts."""
    _, colon, units = name.partition(":")
    return Units.named(units) if colon else Units(True, 0)


@functools.cache
def unicode_table() -> dict[str, str]:
    """The sections of the frozen Unicode table by name."""
    text = files("deltavec.core.text").joinpath("unicode14.txt").read_text("ascii")
    return dict(re.findall(r"^\[(\w+)\]\n([^\[]*)", text, re.MULTILINE))


def shifts_of_words() -> npt.NDArray[np.int32]:
    """For each code point its shift to lower case, or its class, under ``words``."""
    table = unicode_table()
    shifts = np.full(CODE_POINTS, SEPARATOR, np.int32)
    fill(shifts, table["word"], 0)
    for first, last, step, shift in re.findall(r"(\w+)-(\w+)/(\d)([+-]\d+)", table["lower"]):
        shifts[int(first, 16) : int(last, 16) + 1 : int(step)] = int(shift)
    fill(shifts, table["mark"], MARK)
    fill(shifts, table["unspaced"], UNSPACED)
    return shifts


def fill(shifts: npt.NDArray[np.int32], ranges: str, value: int | np.int32) -> None:
    """Write the value at every code point of the ranges."""
    for first, last in parse_ranges(ranges):
        shifts[first : last + 1] = value


def parse_ranges(ranges: str) -> list[tuple[int, int]]:
    """The first and last code points of ranges such as ``41-5A 61-7A``."""
    return [(int(a, 16), int(b, 16)) for a, b in re.findall(r"(\w+)-(\w+)", ranges)]


def shifts_of_whitespace() -> npt.NDArray[np.int32]:
    """For each code point 0, or ``SEPARATOR``, under ``whitespace``."""
    shifts = np.zeros(CODE_POINTS, np.int32)
    fill(shifts, WHITESPACE, SEPARATOR)
    return shifts


def rule_of_table(shifts: npt.NDArray[np.int32]) -> Rule:
    """The rule whose table is ``shifts``, equal pages kept once."""
    shifts[0] = SEPARATOR
    shifts[0xD800:0xE000] = SEPARATOR  # surrogates are no characters
    shifts[0xFFFD] = SEPARATOR  # replaces bytes that are not UTF-8
    numbers: dict[bytes, int] = {}
    page_of = [
        numbers.setdefault(page.tobytes(), len(numbers)) for page in shifts.reshape(-1, PAGE)
    ]
    pages = np.frombuffer(b"".join(numbers), np.int32).reshape(-1, PAGE)
    each_byte = np.arange(PAGE, dtype=np.uint8)
    each_byte[:128] = np.where(shifts[:128] == SEPARATOR, 0, each_byte[:128] + shifts[:128])
    return freeze(Rule(each_byte, True, np.array(page_of, np.uint8), pages))


def freeze(rule: Rule) -> Rule:
    """The same rule, its arrays read-only: numba compiles a kernel once per kind of array."""
    for array in (rule.bytes, rule.page_of, rule.pages):
        array.flags.writeable = False
    return rule


def token_rule() -> Rule:
    """The rule for words that are joined by the byte FF."""
    every_byte = np.arange(PAGE, dtype=np.uint8)
    every_byte[TOKEN_SEPARATOR[0]] = 0
    return freeze(Rule(every_byte, False, np.zeros(1, np.uint8), np.zeros((1, 1), np.int32)))


TABLES: dict[str, Callable[[], npt.NDArray[np.int32]]] = {
    "words": shifts_of_words,
    f"words{FOLDED}": shifts_of_words,
    "whitespace": shifts_of_whitespace,
    "tokens": lambda: np.zeros(CODE_POINTS, np.int32),  # tokens of a caller are taken as they are
}


def unknown_tokenizer(given: object) -> InputError:
    """The error for what is neither a tokenizer nor the name of one."""
    return InputError(
        "tokenizer must be 'words', 'whitespace', a third-party tokenizer ('jieba', "
        f"'spacy:ja', 'module:function') or a callable, got {given!r}"
    )


@functools.cache
def rule(name: str) -> Rule:
    """The tables of the rule of this name."""
    base, colon, _ = name.partition(":")
    if base not in TABLES:
        raise unknown_tokenizer(name)
    if not colon:
        return token_rule() if name == "tokens" else rule_of_table(TABLES[base]())
    units = units_of(name)
    # Decoded, since n-grams are of characters; the byte FF separates words, as it is not UTF-8.
    return rule_of_table(TABLES[base]())._replace(gram=units.gram, whole=units.words)


def rule_of_lists(name: str) -> Rule:
    """The rule for documents that are lists of words, with the units of the rule of this name."""
    _, colon, units = name.partition(":")
    return rule(f"tokens{colon}{units}")


def shifts_of(characters: str, table: Rule) -> npt.NDArray[np.int32]:
    """For each character the shift to its lower case, or what it is instead."""
    codes = np.frombuffer(characters.encode("utf-32-le", "surrogatepass"), np.uint32)
    return table.pages[table.page_of[codes // PAGE], codes % PAGE]


def are_unspaced(characters: str) -> npt.NDArray[np.bool_]:
    """For each character whether it is of a script without spaces."""
    return np.asarray(shifts_of(characters, rule("words")) == UNSPACED)
