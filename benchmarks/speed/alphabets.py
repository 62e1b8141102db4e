"""The same text with half of its words in other scripts: Cyrillic, accents, CJK and emoji.

A word keeps its place and gets the spelling of a script, the same wherever it occurs. Scripts are
dealt out from the most frequent word down, each to the script that has had the fewest words so
far, so that half of the running words stay ASCII and an eighth goes to each of the four others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

LETTERS = re.compile(r"[A-Za-z]+")
LATIN = "abcdefghijklmnopqrstuvwxyz"
RUSSIAN = "абцдефгхийклмнопярстувжщыз"
CYRILLIC = str.maketrans(LATIN + LATIN.upper(), RUSSIAN + RUSSIAN.upper())
ACCENTS = str.maketrans("aeioucnszyAEIOUCNSZY", "áéíóúçñšžýÁÉÍÓÚÇÑŠŽÝ")
EMOJI = ("\N{GRINNING FACE}", "\N{THUMBS UP SIGN}", "\N{SPARKLES}", "\N{FACE WITH TEARS OF JOY}")
FIRST_IDEOGRAPH = 0x4E00


def cyrillic(word: str) -> str:
    """The word in Cyrillic letters, two bytes each."""
    return word.translate(CYRILLIC)


def accented(word: str) -> str:
    """The word with marks on its vowels and some consonants; on its last letter if on no other."""
    changed = word.translate(ACCENTS)
    return changed if changed != word else word + "\N{COMBINING ACUTE ACCENT}"


def ideographs(word: str) -> str:
    """One ideograph, three bytes, for every two letters."""
    numbers = [LATIN.index(letter) + 1 for letter in word.lower()]
    pairs = zip(numbers[::2], [*numbers[1::2], 0], strict=False)
    return "".join(chr(FIRST_IDEOGRAPH + 27 * first + second) for first, second in pairs)


def with_emoji(word: str) -> str:
    """The word with marks, and an emoji behind it, which separates words."""
    return accented(word) + " " + EMOJI[len(word) % len(EMOJI)]


SCRIPTS: tuple[Callable[[str], str], ...] = (cyrillic, accented, ideographs, with_emoji)


def dealt(counts: Sequence[int]) -> list[int]:
    """For each word, most frequent first: 0 for ASCII, else 1 + the place of its script."""
    plain = 0
    others = [0] * len(SCRIPTS)
    kinds = []
    for number in counts:
        least = min(range(len(others)), key=others.__getitem__)
        # ASCII holds as many running words as the others together.
        if plain <= sum(others):
            kinds.append(0)
            plain += number
        else:
            kinds.append(1 + least)
            others[least] += number
    return kinds


def spellings(words: Sequence[str], counts: Sequence[int]) -> dict[str, str]:
    """How the words that leave ASCII are spelled."""
    ascii_words = [
        (word, count) for word, count in zip(words, counts, strict=True) if LETTERS.fullmatch(word)
    ]
    kinds = dealt([count for _, count in ascii_words])
    return {
        word: SCRIPTS[kind - 1](word)
        for (word, _), kind in zip(ascii_words, kinds, strict=True)
        if kind
    }


def respelled(texts: Sequence[str], spelling: Mapping[str, str]) -> list[str]:
    """The texts, with every such word in its script; capitals are kept where a script has them."""

    def spelled(match: re.Match[str]) -> str:
        word = match.group()
        other = spelling.get(word.lower())
        if other is None:
            return word
        return other.capitalize() if word[0].isupper() else other

    return [LETTERS.sub(spelled, text) for text in texts]
