"""Words of closed classes: articles, pronouns, prepositions, conjunctions, auxiliaries, particles.

They name no topic, although some distinguish groups well: *she* and *her* set a group of portraits
apart. The classes are closed, so they can be listed. Unlike common lists of stop words, these have
no content words (*fire*, *bill*, *system*).

A list counts only if the documents are in its language: *war* is a function word in German alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

# A language is present if its words make up more than this share of all (document, word) pairs,
# beyond the words of languages found before it.
WRITTEN = 0.08
FEWEST = 5  # different ones; *sea* alone is not Spanish

LANGUAGE = re.compile(r"^\[(\w+)\]$", re.MULTILINE)


@cache
def word_lists() -> Mapping[str, frozenset[str]]:
    """The function words of each language, from ``function_words.txt``."""
    text = files("deltavec.collection.topics").joinpath("function_words.txt").read_text("utf-8")
    _, *parts = LANGUAGE.split(text)
    lists = zip(parts[::2], parts[1::2], strict=True)
    return {language: frozenset(words.split()) for language, words in lists}


def function_words(held: Mapping[str, int]) -> frozenset[str]:
    """The function words of the languages that documents are written in.

    Parameters
    ----------
    held
        How many documents hold each word.
    """
    total = sum(held.values())
    known: frozenset[str] = frozenset()
    while True:
        # Languages share short words: count only those that no earlier list has.
        more = [words - known for words in word_lists().values()]
        often = [[held[word] for word in words if held.get(word)] for words in more]
        shares = [sum(counts) if len(counts) >= FEWEST else 0 for counts in often]
        best = max(shares)
        if best <= WRITTEN * total:
            return known
        known |= more[shares.index(best)]
