"""Spelling suggestions for words that are out of vocabulary."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Sequence

from deltavec.core.vocabulary import Vocabulary

SHORTEST = 4  # letters; shorter words are one edit away from too many others
SHORTEST_FAR = 6  # letters of a word for which more than one edit is tried
SIMILAR = 0.8  # of difflib's ratio, which is about 1 - edits / letters
LETTERS = 64
WORDS_WITH_LETTERS = 1000
CORRECTED = 5  # unknown words for which known ones are looked for


def suggestions(unknown: Sequence[str], vocabulary: Vocabulary) -> dict[str, list[str]]:
    """For unknown words, the known ones with a similar spelling, if there are any."""
    near = {word: suggest(word, vocabulary) for word in unknown[:CORRECTED]}
    return {word: known for word, known in near.items() if known}


def suggest(word: str, vocabulary: Vocabulary, most: int = 3) -> list[str]:
    """Words of the vocabulary within one edit, the most frequent first; else similar ones.

    An edit inserts, deletes or replaces a letter, or swaps two. If there is no such word, and the
    word is long enough, words with the same first letter are compared.

    Examples
    --------
    >>> suggest("qiuet", Vocabulary.of(["room", "quiet"]))
    ['quiet']
    """
    if len(word) < SHORTEST:
        return []
    edits = list(dict.fromkeys(within_one_edit(word, common_letters(vocabulary))))
    ids = vocabulary.ids(edits)
    found = sorted(int(number) for number in ids if number >= 0)
    if found or len(word) < SHORTEST_FAR:
        return [vocabulary.word(number) for number in found[:most]]
    similar = [
        known
        for known in vocabulary.words
        if known[:1] == word[0] and abs(len(known) - len(word)) <= len(word) // 4
    ]
    return difflib.get_close_matches(word, similar, n=most, cutoff=SIMILAR)


def common_letters(vocabulary: Vocabulary) -> str:
    """The letters that the first words of a vocabulary are written with."""
    some = range(min(len(vocabulary), WORDS_WITH_LETTERS))
    counts = Counter(letter for number in some for letter in vocabulary.word(number))
    return "".join(letter for letter, _ in counts.most_common(LETTERS))


def within_one_edit(word: str, letters: str) -> Iterator[str]:
    """All strings within one edit of a word."""
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        for letter in letters:
            yield before + letter + after
            if after:
                yield before + letter + after[1:]
        if after:
            yield before + after[1:]
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:]
