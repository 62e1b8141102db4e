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
from deltavec.core.text.rules import SEPARATOR, rule, unicode_table

if TYPE_CHECKING:
    from deltavec.core.text.rules import TextBatch

# Default_Ignorable_Code_Point of Unicode 14, without U+200B to U+200D, which part words; the
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


class Mappings(NamedTuple):
    """What becomes of characters, and which of them may change what stands before them.

    Attributes
    ----------
    parts
        The folded and decomposed form of each character that has another; empty if it is ignored.
    joins
        Characters whose first part goes before, or composes with, what stands before it.
    pairs
        Two characters that compose, and what they become; not those of Hangul, which are reckoned.
    """

    parts: dict[str, str]
    joins: frozenset[str]
    pairs: dict[str, str]


class Folded(NamedTuple):
    """A text, normalized, and of each of its characters where what it came from begins and ends."""

    text: str
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


@functools.cache
def in_words() -> npt.NDArray[np.bool_]:
    """For each code point whether it stands in words."""
    table = rule("words")
    inside: npt.NDArray[np.bool_] = (table.pages != SEPARATOR)[table.page_of].reshape(-1)
    return inside


def in_ranges(ranges: str) -> list[int]:
    """All code points of the ranges."""
    found = re.findall(r"(\w+)-(\w+)", ranges)
    return [code for first, last in found for code in range(int(first, 16), int(last, 16) + 1)]


@functools.cache
def mappings() -> Mappings:
    """What becomes of every character, by the mappings of Unicode."""
    inert = frozenset(in_ranges(INERT_RANGES))
    parts = dict.fromkeys(ignored(), "")
    pairs: dict[str, str] = {}
    listed = [chr(code) for code in np.flatnonzero(in_words()).tolist() if code not in inert]
    for character in listed:
        pair = unicodedata.decomposition(character).split()
        if len(pair) == 2 and pair[0][0] != "<" and unicodedata.is_normalized("NFC", character):
            pairs["".join(chr(int(code, 16)) for code in pair)] = character
        own = decompose(character)
        if own != character:
            parts.setdefault(character, own)
    seconds = {pair[1] for pair in pairs}.union(map(chr, range(0x1161, 0x11C3)))
    joins = frozenset(
        character
        for character in listed
        if (own := parts.get(character, character))
        and (unicodedata.combining(own[0]) or own[0] in seconds)
    )
    return Mappings(parts, joins, pairs)


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
    kept = text.translate(translations().ignored)
    return translations().word.sub(lambda run: normalize_run(run[0]), kept)


class Translations(NamedTuple):
    """What `fold` looks up: characters to drop, runs of word characters, and their parts."""

    ignored: dict[int, str]
    word: re.Pattern[str]
    parts: dict[int, str]


@functools.cache
def translations() -> Translations:
    """The tables of `fold`."""
    ranges = re.findall(r"(\w+)-(\w+)", unicode_table()["word"])
    characters = "".join(f"\\U{int(a, 16):08x}-\\U{int(b, 16):08x}" for a, b in ranges)
    parts = {ord(character): own for character, own in mappings().parts.items()}
    return Translations(
        dict.fromkeys(map(ord, ignored()), ""), re.compile(f"[{characters}]+"), parts
    )


def fold_with_offsets(text: str) -> Folded:
    """The same, with the places that each character came from."""
    if text.isascii():
        places = np.arange(len(text), dtype=np.int64)
        return Folded(text.lower(), places, places + 1)
    pieces: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    for begin, end in stretches(text):
        piece = normalize_run(text[begin:end])
        pieces.append(piece)
        begins += [begin] * len(piece)
        ends += [end] * len(piece)
    return Folded("".join(pieces), np.array(begins, np.int64), np.array(ends, np.int64))


def stretches(text: str) -> list[tuple[int, int]]:
    """Where a text may be cut so that its pieces are normalized each by itself."""
    joins, inside, unseen = mappings().joins, in_words(), ignored()
    cuts = []
    before = False  # whether what comes next may belong to the character before
    for place, character in enumerate(text):
        if character in unseen:
            continue
        if not (before and character in joins):
            cuts.append(place)
        before = bool(inside[ord(character)])
    return list(itertools.pairwise([0, *cuts[1:], len(text)]))


def normalize_run(run: str) -> str:
    """A run of word characters, or a separator, normalized."""
    own = run.translate(translations().parts)
    if len(own) == 1 and not in_words()[ord(own)]:
        return own
    ordered = DOTTED_I.sub("i", unicodedata.normalize("NFD", own))
    return unicodedata.normalize("NFC", ordered)


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
