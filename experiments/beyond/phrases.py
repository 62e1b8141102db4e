"""Whether pairs of words that stand together more often than by chance should be units.

    python phrases.py DATA CORPUS ... --cache CACHE

A phrase is two neighbouring words, seen five times or more, whose normalised mutual information
(1: never apart) is beyond a bound; from the left, none overlaps another. Joined: the phrase stands
for its words. Beside: it stands after them. Each is a corpus of its own: fitted, and compared as a
collection; the words themselves are given as lists too, so that all else is equal.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from itertools import chain, pairwise

import numpy as np
from asking import asked
from compare import DRAWS
from corpora import corpus_named
from outcomes import keep
from problems import problems

import deltavec as dv
from deltavec.core.text.tokenize import parted

RULE = "words-2"
LEAST = 5
Words = list[str]


def phrases(documents: list[Words], bound: float) -> set[tuple[str, str]]:
    """The pairs of neighbours that make a phrase."""
    words = Counter(word for document in documents for word in document)
    pairs = Counter(pair for document in documents for pair in pairwise(document))
    total = words.total()

    def information(first: str, second: str, count: int) -> float:
        apart = np.log(count * total / (words[first] * words[second]))
        return float(apart / np.log(total / count))

    return {
        pair
        for pair, count in pairs.items()
        if count >= LEAST and information(*pair, count) > bound
    }


def joined(document: Words, known: set[tuple[str, str]], *, beside: bool) -> Words:
    """The words of a document with its phrases."""
    found, place = [], 0
    while place < len(document):
        pair = tuple(document[place : place + 2])
        if pair in known:
            found += [*pair] * beside + ["_".join(pair)]
            place += 2
        else:
            found.append(document[place])
            place += 1
    return found


def with_phrases(bound: float, *, beside: bool) -> Callable[[list[Words]], list[Words]]:
    """A way to make units of words."""

    def units(documents: list[Words]) -> list[Words]:
        known = phrases(documents, bound)
        return [joined(document, known, beside=beside) for document in documents]

    return units


WAYS: dict[str, Callable[[list[Words]], list[Words]]] = {
    "words": lambda documents: documents,
    **{
        f"{'beside' if beside else 'joined'}, {bound:g}": with_phrases(bound, beside=beside)
        for beside in (False, True)
        for bound in (0.3, 0.5, 0.7)
    },
}


def main() -> None:
    arguments = asked(__doc__)
    warnings.simplefilter("ignore")
    for name in arguments.corpora:
        corpus = corpus_named(name, arguments.data)
        words = [list(parted(text, RULE).units) for text in corpus.texts]
        found: dict[str, dict[str, list[float]]] = {}
        for way, units in WAYS.items():
            texts = units(words)
            model = dv.fit(texts[: len(corpus.learned)])
            for problem in problems(corpus, draws=DRAWS):
                for draw in problem.draws:
                    documents = [
                        [*chain.from_iterable(texts[place] for place in places)]
                        for places in draw.places
                    ]
                    vectors = model.for_collection(documents).embed(documents)
                    scores = found.setdefault(way, {}).setdefault(problem.name, [])
                    scores += draw.scores(vectors)
        keep(f"phrases-{name}", found)
        means = {
            way: [round(float(np.mean(s)), 4) for s in of.values()] for way, of in found.items()
        }
        print(name, means, flush=True)


if __name__ == "__main__":
    main()
