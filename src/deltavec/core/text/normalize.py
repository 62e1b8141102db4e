"""One way of writing for what people write in several: the normalization ``folded``.

Letters are decomposed by Unicode's compatibility mappings, folded as Unicode folds case, and
composed again: "é" in one code point or in two, full-width and half-width forms, ligatures,
presentation forms, "ß" and "ss", "ς" and "σ" come out the same. Left out are characters that are
not to be seen (soft hyphens, marks of direction, variation selectors), the lengthening tatweel and
the vowel marks of Arabic; so is a dot above an "i", so that "İ" is "i". Everything else stays: what
separates words does so as before, joiners and apostrophes among it, and a letter whose mapping
holds something that separates ("½", "ŀ") is only folded. Why each is so: docs/decisions/0024.

The mappings are those of the interpreter's `unicodedata`, asked only about word characters of
Unicode 14, for which Unicode promises that they never change (its stability policies for
normalization, and for case folding of normalized text); a test holds them against a checksum.

`folded` is the slow reference; `normalized` is the same for the bytes that kernels read.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import frozen
from deltavec.core.text.rules import PAGE, SEPARATOR, rule

if TYPE_CHECKING:
    from deltavec.core.text.rules import Texts

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
CLASS = 21  # bits below the combining class of a part
PLAIN, SEPARATES, IGNORED, JOINS, SPELLED = range(5)


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


class Spellings(NamedTuple):
    """The same as tables: ``pages[page_of[c // 256], c % 256]`` is the entry of code point c.

    Attributes
    ----------
    kinds
        For each entry what to do: one of the numbers above.
    spelled, spelled_ends
        The bytes of what each entry becomes by itself, and where they end.
    parts, parts_ends
        Its parts, each with its combining class above bit 21, and where they end.
    firsts, composed
        Pairs that compose, as numbers in order, and what they become.
    """

    page_of: npt.NDArray[np.uint16]
    pages: npt.NDArray[np.int32]
    kinds: npt.NDArray[np.uint8]
    spelled: npt.NDArray[np.uint8]
    spelled_ends: npt.NDArray[np.int64]
    parts: npt.NDArray[np.int32]
    parts_ends: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]
    composed: npt.NDArray[np.int32]


class Folded(NamedTuple):
    """A text, normalized, and of each of its characters where what it came from begins and ends."""

    text: str
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]


@functools.cache
def in_words() -> npt.NDArray[np.bool_]:
    """For each code point whether it stands in words."""
    table = rule("words-2")
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
        own = folded_parts(character)
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


def folded_parts(character: str) -> str:
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


def folded(text: str) -> str:
    r"""The text in the one way of writing.

    Examples
    --------
    >>> folded("Ｃａｆé, STRASSE, straße, ﬁn, co\u00adop, İzmir, ΣΟΦΟΣ σοφός, l'eau")
    "café, strasse, strasse, fin, coop, izmir, σοφοσ σοφόσ, l'eau"
    """
    return folded_with_places(text).text


def folded_with_places(text: str) -> Folded:
    """The same, with the places that each character came from."""
    if text.isascii():
        places = np.arange(len(text), dtype=np.int64)
        return Folded(text.lower(), places, places + 1)
    pieces: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    for begin, end in stretches(text):
        piece = normal(text[begin:end])
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


def normal(piece: str) -> str:
    """A piece of one kind, words or what separates them, in the one way of writing."""
    parts = mappings().parts
    own = "".join(parts.get(character, character) for character in piece)
    if len(own) == 1 and not in_words()[ord(own)]:
        return own
    ordered = DOTTED_I.sub("i", unicodedata.normalize("NFD", own))
    return unicodedata.normalize("NFC", ordered)


@functools.cache
def spellings() -> Spellings:
    """The tables of all characters."""
    parts, joins, pairs = mappings()
    kinds = [PLAIN, SEPARATES, IGNORED]
    entries = np.where(in_words(), 0, 1).astype(np.int32)
    entries[in_ranges(IGNORED_RANGES)] = IGNORED
    spelled, broken = [b""] * len(kinds), [""] * len(kinds)
    for character in sorted({*parts, *joins} - ignored()):
        alone = normal(character)
        entries[ord(character)] = len(kinds)
        alike = PLAIN if alone == character else SPELLED
        kinds.append(JOINS if character in joins else alike)
        spelled.append(alone.encode())
        broken.append(parts.get(character, character))
    numbers: dict[bytes, int] = {}
    page_of = [
        numbers.setdefault(page.tobytes(), len(numbers)) for page in entries.reshape(-1, PAGE)
    ]
    classed = [ord(part) | unicodedata.combining(part) << CLASS for part in "".join(broken)]
    keys = {ord(pair[0]) << CLASS | ord(pair[1]): ord(into) for pair, into in pairs.items()}
    firsts = sorted(keys)
    return Spellings(
        frozen(np.array(page_of, np.uint16)),
        np.frombuffer(b"".join(numbers), np.int32).reshape(-1, PAGE),
        frozen(np.array(kinds, np.uint8)),
        np.frombuffer(b"".join(spelled), np.uint8),
        frozen(np.cumsum([len(each) for each in spelled])),
        frozen(np.array(classed, np.int32)),
        frozen(np.cumsum([len(each) for each in broken])),
        frozen(np.array(firsts, np.int64)),
        frozen(np.array([keys[key] for key in firsts], np.int32)),
    )


def normalized(texts: Texts) -> Texts:
    """Documents as bytes, in the one way of writing; the same bytes if all are ASCII."""
    from deltavec.core.text.normalize_kernels import MOST_GROWTH, respell

    begin, end = int(texts.ends[0]), int(texts.ends[-1])
    if begin == end or texts.data[begin:end].max() < 128:
        return texts
    # Room that is not written to takes no memory.
    written = np.empty(MOST_GROWTH * (end - begin), np.uint8)
    ends = np.zeros(len(texts.ends), np.int64)
    used = respell(texts.data, texts.ends, spellings(), written, ends)
    return texts._replace(data=frozen(written[:used]), ends=frozen(ends))
