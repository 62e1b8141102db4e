"""Words that were chosen to meet in one place of the hash table, beside words that were not.

    python benchmarks/colliding.py -o benchmarks/results/colliding.json

The words are those that would meet if our hashes had no secret: seven letters, found by trying.
Both lists make documents of the same lengths, whose words stand in the same places. Learning a
vocabulary, fit and embed are timed in turns, by processor time, on one thread; told is the median
of each, and how many times as long the chosen words take.
"""

from __future__ import annotations

import argparse
import inspect
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measuring import publish, surroundings

import deltavec as dv
from deltavec.core.kernels.hashing import mix
from deltavec.core.learning.vocabulary_builder import WordCounts
from deltavec.core.text.batches import as_text_batch

WORDS = 20_000
LETTERS = 7
SLOTS = 1 << 17  # more than the table of so many words has
MEETING = 4  # slots that all chosen words begin in
DOCUMENTS, LENGTH = 8_000, 50
ROUNDS = 5
BLOCK = 1 << 20


def words(first_slots: int) -> np.ndarray:
    """Words whose hash without a secret begins in one of the first slots."""
    hashes = inspect.unwrap(mix)  # plain Python: of a whole array
    places = np.arange(LETTERS, dtype=np.uint64)
    found: list[np.ndarray] = []
    begin = 26 ** (LETTERS - 1)
    while sum(map(len, found)) < WORDS:
        numbers = np.arange(begin, begin + BLOCK, dtype=np.uint64)
        packed = np.zeros(BLOCK, np.uint64)
        for place in places:
            packed |= np.uint64(97) + numbers % np.uint64(26) << np.uint64(8) * place
            numbers //= np.uint64(26)
        found.append(packed[hashes(packed) & np.uint64(SLOTS - 1) < np.uint64(first_slots)])
        begin += BLOCK
    letters = np.concatenate(found)[:WORDS].astype("<u8").view(f"S{LETTERS + 1}")
    return letters.astype(str)


def documents(first_slots: int, order: np.ndarray) -> list[str]:
    return [" ".join(row) for row in words(first_slots)[order]]


def learned(texts: list[str]) -> int:
    counts = WordCounts()
    counts.add(as_text_batch(texts, "words"))
    return counts.distinct


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    order = np.concatenate([rng.permutation(WORDS) for _ in range(DOCUMENTS * LENGTH // WORDS)])
    order = order.reshape(DOCUMENTS, LENGTH)
    kinds = {"random": documents(SLOTS, order), "chosen": documents(MEETING, order)}
    recipe = dv.Recipe(form="spectral", dimensions=50)
    models = {kind: dv.fit(texts, recipe=recipe, threads=1) for kind, texts in kinds.items()}
    steps: dict[str, Callable[[str], object]] = {
        "learning a vocabulary": lambda kind: learned(kinds[kind]),
        "fit": lambda kind: dv.fit(kinds[kind], recipe=recipe, threads=1),
        "embed": lambda kind: models[kind].embed(kinds[kind], threads=1),
    }
    results: dict[str, dict[str, float]] = {}
    for name, step in steps.items():
        seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
        for _ in range(ROUNDS):
            for kind in kinds:
                begin = time.process_time()
                step(kind)
                seconds[kind].append(time.process_time() - begin)
        medians = {kind: statistics.median(seconds[kind]) for kind in kinds}
        ratio = medians["chosen"] / medians["random"]
        results[name] = {
            **{kind: round(medians[kind], 4) for kind in kinds},
            "times": round(ratio, 2),
        }
    about = {"words": WORDS, "tokens": DOCUMENTS * LENGTH, "rounds": ROUNDS}
    publish({**surroundings(["numpy", "numba"]), **about, "seconds": results}, arguments.output)


if __name__ == "__main__":
    main()
