"""Unicode normalization and case folding: the option ``normalization="folded"``.

Letters are decomposed by Unicode's compatibility mappings, case-folded and composed again. So "é"
in one code point or two, full-width and half-width forms, ligatures, presentation forms, "ß" and
"ss", "ς" and "σ" become the same. Invisible characters (soft hyphens, direction marks, variation
selectors), the Arabic tatweel and Arabic vowel marks are dropped, and so is the dot above an "i",
so that "İ" is "i". Everything else stays: separators still separate, joiners and apostrophes
included, and a letter whose compatibility mapping contains a separator ("½", "ŀ") is only case-
folded. The reasons are in docs/decisions/0024.

The mappings come from the interpreter's `unicodedata`, for word characters of Unicode 14 only.
Unicode promises that these never change; a test compares them with a checksum.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import pack
from deltavec.core.text.rules import SEPARATOR, parse_ranges, rule, unicode_table

if TYPE_CHECKING:
    from deltavec.core.text.rules import TextBatch

# Default_Ignorable_Code_Point of Unicode 14, without U+200B to U+200D, which separate words; the
# tatweel, and the vowel marks of Arabic.
IGNORED_RANGES = """
AD-AD 34F-34F 61C-61C 115F-1160 17B4-17B5 180B-180F 200E-200F 202A-202E 2060-206F 3164-3164
FE00-FE0F FEFF-FEFF FFA0-FFA0 FFF0-FFF8 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF
640-640 64B-652 670-670
"""
IOTA_BELOW = (
    "\u0345"  # folds to a letter, which would depend on the order of marks: it stays a mark
)
DOTTED_I = re.compile("i\u0307+")
INERT_RANGES = "3400-4DBF 4E00-9FFF AC00-D7A3 17000-187F7 20000-2A6DF 2A700-2EBE0 30000-3134A"


class Folded(NamedTuple):
    """A normalized text, and for each of its characters the offsets of what it came from."""

    text: str
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


@functools.cache
def in_words() -> npt.NDArray[np.bool_]:
    """For each code point whether it is a word character."""
    table = rule("words")
    inside: npt.NDArray[np.bool_] = (table.pages != SEPARATOR)[table.page_of].reshape(-1)
    return inside


def in_ranges(ranges: str) -> list[int]:
    """All code points of the ranges."""
    return [code for first, last in parse_ranges(ranges) for code in range(first, last + 1)]


@functools.cache
def mappings() -> dict[int, str]:
    """For each code point that changes: its folded and decomposed form, empty if it is ignored."""
    changed = dict.fromkeys(map(ord, ignored()), "")
    inert = frozenset(in_ranges(INERT_RANGES))
    for code in np.flatnonzero(in_words()).tolist():
        if code not in inert and (own := decompose(chr(code))) != chr(code):
            changed.setdefault(code, own)
    return changed


def decompose(character: str) -> str:
    """A character, folded and decomposed; only folded if its parts would separate words."""
    inside = in_words()
    for form in ("NFKD", "NFD"):
        found = "".join(
            part if part == IOTA_BELOW else unicodedata.normalize(form, part.casefold())
            for part in unicodedata.normalize(form, character)
        )
        kept = "".join(part for part in found if part not in ignored())
        if all(inside[ord(part)] for part in kept):
            break
    return unicodedata.normalize("NFD", kept)


@functools.cache
def ignored() -> frozenset[str]:
    """The characters that are left out."""
    return frozenset(map(chr, in_ranges(IGNORED_RANGES)))


def fold(text: str) -> str:
    r"""The normalized text.

    Examples
    --------
    >>> fold("Ｃａｆé, STRASSE, straße, ﬁn, co\u00adop, İzmir, ΣΟΦΟΣ σοφός, l'eau")
    "café, strasse, strasse, fin, coop, izmir, σοφοσ σοφόσ, l'eau"
    """
    if text.isascii():
        return text.lower()
    kept = text.translate(dict.fromkeys(map(ord, ignored()), ""))
    return word_pattern().sub(lambda run: normalize_run(run[0]), kept)


@functools.cache
def word_pattern() -> re.Pattern[str]:
    """Matches a run of word characters."""
    ranges = parse_ranges(unicode_table()["word"])
    characters = "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in ranges)
    return re.compile(f"[{characters}]+")


def normalize_run(run: str) -> str:
    """A run of word characters, or a separator, normalized."""
    own = run.translate(mappings())
    if len(own) == 1 and not in_words()[ord(own)]:
        return own
    ordered = DOTTED_I.sub("i", unicodedata.normalize("NFD", own))
    return unicodedata.normalize("NFC", ordered)


def fold_with_offsets(text: str) -> Folded:
    """The normalized text, with the offsets that each character came from.

    The text is cut into pieces that are normalized each by itself.
    """
    if text.isascii():
        places = np.arange(len(text), dtype=np.int64)
        return Folded(text.lower(), places, places + 1)
    begins = [0]
    for place in range(1, len(text)):
        if not joins(text, begins[-1], place):
            begins.append(place)
    ends = [*begins[1:], len(text)]
    pieces = [normalize_run(text[i:j]) for i, j in zip(begins, ends, strict=True)]
    lengths = [len(piece) for piece in pieces]
    return Folded("".join(pieces), np.repeat(begins, lengths), np.repeat(ends, lengths))


def joins(text: str, begin: int, place: int) -> bool:
    """Whether the character at a place is normalized together with the text since ``begin``."""
    character, before = text[place], place - 1
    while before > begin and text[before] in ignored():
        before -= 1
    if character in ignored() or text[before] in ignored():
        return True
    if not (in_words()[ord(character)] and in_words()[ord(text[before])]):
        return False
    if unicodedata.combining(mappings().get(ord(character), character)[0]):
        return True
    piece = text[begin:place]
    return normalize_run(piece + character) != normalize_run(piece) + normalize_run(character)


def fold_batch(texts: TextBatch) -> TextBatch:
    """A batch of normalized documents; the same batch if all of it is ASCII."""
    begin, end = int(texts.ends[0]), int(texts.ends[-1])
    if begin == end or texts.data[begin:end].max() < 128:
        return texts
    data = texts.data[begin:end].tobytes()
    ends = (texts.ends - begin).tolist()
    # A byte that is not UTF-8 becomes U+FFFD, which separates words as the byte did.
    documents = [
        piece if piece.isascii() else fold(piece.decode("utf-8", "replace")).encode()
        for piece in (data[first:last] for first, last in itertools.pairwise(ends))
    ]
    written, offsets = pack(documents)
    return texts._replace(data=written, ends=offsets)
