"""What a word is: one table of character classes, and the slow reference that defines the rule.

A word is a maximal run of word characters, each replaced by its lower case. Every rule is such a
table over code points, so one kernel reads them all:

``words``
    letters, marks, numbers (Unicode categories L, M, N) and underscore, lower-cased code point by
    code point; one whose lower case is longer than one code point stays as it is. The table is
    frozen at Unicode 14.
``whitespace``
    everything but white space, as it stands: for text that is already tokenised.
``tokens``
    internal: words that a caller's own tokenizer made, joined by the byte FF, which UTF-8 never
    uses.

The character U+0000 separates words under every rule, and so does a byte that is not UTF-8.
"""

from __future__ import annotations

import functools
import re
import sys
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.unicode14 import LOWER_CASE_RUNS, WORD_RANGES
from deltavec.errors import InputError

CODE_POINTS = sys.maxunicode + 1
PAGE = 256
SEPARATOR = np.int32(-CODE_POINTS)  # no shift is as large: a shift plus a code point is one
TOKEN_SEPARATOR = b"\xff"
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
        or ``SEPARATOR``.
    """

    bytes: npt.NDArray[np.uint8]
    decodes: bool
    page_of: npt.NDArray[np.uint8]
    pages: npt.NDArray[np.int32]


def shifts_of_words() -> npt.NDArray[np.int32]:
    """For each code point its shift to lower case, or ``SEPARATOR``, under ``words``."""
    shifts = np.full(CODE_POINTS, SEPARATOR, np.int32)
    for first, last in re.findall(r"(\w+)-(\w+)", WORD_RANGES):
        shifts[int(first, 16) : int(last, 16) + 1] = 0
    for first, last, step, shift in re.findall(r"(\w+)-(\w+)/(\d)([+-]\d+)", LOWER_CASE_RUNS):
        shifts[int(first, 16) : int(last, 16) + 1 : int(step)] = int(shift)
    return shifts


def shifts_of_whitespace() -> npt.NDArray[np.int32]:
    """For each code point 0, or ``SEPARATOR``, under ``whitespace``."""
    shifts = np.zeros(CODE_POINTS, np.int32)
    shifts[list(WHITESPACE)] = SEPARATOR
    return shifts


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


@functools.cache
def rule(name: str) -> Rule:
    """The tables of the rule of this name."""
    if name == "words":
        return paged(shifts_of_words())
    if name == "whitespace":
        return paged(shifts_of_whitespace())
    if name == "tokens":
        every_byte = np.arange(PAGE, dtype=np.uint8)
        every_byte[TOKEN_SEPARATOR[0]] = 0
        return frozen(Rule(every_byte, False, np.zeros(1, np.uint8), np.zeros((1, 1), np.int32)))
    raise InputError(f"tokenizer must be 'words', 'whitespace' or a callable, got {name!r}")


def narrowest_rule() -> Rule:
    """The rule for which a word that it reads as it is written is one for every other rule too."""
    return rule("words")


def words(text: str, name: str = "words") -> list[str]:
    """The words of a text, one code point at a time: the slow reference.

    Examples
    --------
    >>> words("Don't PANIC: 42 crème brûlées")
    ['don', 't', 'panic', '42', 'crème', 'brûlées']
    >>> words("state-of-the-art , really", "whitespace")
    ['state-of-the-art', ',', 'really']
    """
    table = rule(name)
    found = []
    word = ""
    for character in text:
        page, place = divmod(ord(character), PAGE)
        shift = table.pages[table.page_of[page], place]
        if shift != SEPARATOR:
            word += chr(ord(character) + int(shift))
        elif word:
            found.append(word)
            word = ""
    return [*found, word] if word else found
