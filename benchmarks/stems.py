"""Precision of the learned stems beside Snowball's, and what they are worth in search.

    python benchmarks/stems.py judged/cranfield judged/cacm --pairs 3 5 -o results/stems.json

Each folder has BEIR's layout (corpus.jsonl, queries.jsonl, qrels/test.tsv). ``--pairs`` are numbers
of pairs that a rule must join; with 3, function words have forms as well, as they had before. Pairs
of words that share a stem are weighted by the frequency of the rarer word. ``agrees`` is the share
of our pairs that Snowball's English stemmer joins as well, ``found`` the share of its pairs (words
of four letters or more) that ours joins, ``change`` the difference in nDCG@10 of hybrid search
from the first setting, with its standard error over queries.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import Stemmer
from measuring import commit, publish, surroundings

import deltavec as dv
from deltavec.collection import segment_writer
from deltavec.core.learning import stemming
from deltavec.evaluation.pairs import measured
from deltavec.lab.judged import Judged, read_judged

LARGEST = 200  # words of a group whose pairs are counted
FORMERLY = 3


def build(model: dv.EmbeddingModel, texts: list[str], pairs: int, folder: Path) -> dv.Collection:
    """A collection whose rules join at least so many pairs."""
    with patch.object(stemming, "PAIRS_ENOUGH", pairs):
        if pairs > FORMERLY:
            return dv.build_collection(model, texts, folder)
        with patch.object(segment_writer, "function_words", lambda held: frozenset()):
            return dv.build_collection(model, texts, folder)


def precision(collection: dv.Collection) -> dict[str, float]:
    """How far the stems agree with Snowball's."""
    snowball = Stemmer.Stemmer("english").stemWord
    model, index = collection.model, collection.words.words
    counts = dict(zip(model.vocabulary.words, model.statistics.token_counts.tolist(), strict=True))
    term_of = dict(zip(index.words.words, index.stems.groups.tolist(), strict=True))
    ours, theirs = defaultdict(list), defaultdict(list)
    for word, term in term_of.items():
        ours[term].append(word)
        if len(word) >= stemming.LEAST_LETTERS and word.isascii() and word.isalpha():
            theirs[snowball(word)].append(word)

    def share(groups: dict[Any, list[str]], joins: dict[str, Any]) -> float:
        total = both = 0
        for words in groups.values():
            for a, b in combinations(words[:LARGEST], 2):
                weight = min(counts.get(a, 0), counts.get(b, 0))
                total += weight
                both += weight * (joins[a] == joins[b])
        return round(both / max(total, 1), 4)

    return {
        "agrees": share(ours, {word: snowball(word) for word in term_of}),
        "found": share(theirs, term_of),
    }


def quality(collection: dv.Collection, judged: Judged) -> np.ndarray:
    """nDCG@10 of hybrid search for each query."""
    found = [collection.search(query, k=10) for query in judged.queries.values()]
    ranked = [[judged.ids[int(hit.id)] for hit in hits] for hits in found]
    return np.array(
        [measured(*both)[0] for both in zip(ranked, judged.grades.values(), strict=True)]
    )


def main() -> None:
    """Measure every folder with every setting."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pairs", nargs="+", type=int, default=[FORMERLY, stemming.PAIRS_ENOUGH])
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    results: dict[str, dict[str, Any]] = {}
    for folder in given.folders:
        judged = read_judged(folder, "test")
        model = dv.fit(judged.texts)
        first = None
        for pairs in given.pairs:
            with tempfile.TemporaryDirectory() as scratch:
                built = build(model, judged.texts, pairs, Path(scratch) / "c.idx")
                scores = quality(built, judged)
                first = scores if first is None else first
                change = scores - first
                results.setdefault(folder.name, {})[f"{pairs} pairs"] = {
                    **precision(built),
                    "ndcg": round(float(scores.mean()), 4),
                    "change": round(float(change.mean()), 4),
                    "error": round(float(change.std() / np.sqrt(len(change))), 4),
                }
    packages = ("deltavec", "numpy", "PyStemmer")
    publish({"commit": commit(), **surroundings(packages), "results": results}, given.output)


if __name__ == "__main__":
    main()
