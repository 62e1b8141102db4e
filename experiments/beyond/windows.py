r"""How wide a window, by the size of the corpus: half, one and two times a quarter of a document.

Larger corpora are cut down to samples of their texts, each fitted by itself; the documents compared
are those of the whole corpus, so that every sample faces the same problems. Each sample is drawn
with three seeds, and scored on as many draws of the documents.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from corpora import LabelledCorpus, corpus_named, of_texts
from outcomes import RESULTS, keep, kept
from problems import counts_of, problems
from spectral_variants import CountedPairs, Parameters, sums_of, weighed
from transfer import Source

SEEDS = 3
TOKENS = (250_000, 500_000, 1_000_000, 2_000_000, 4_000_000)
FACTORS = (1.0, 2.0, 4.0)


def sample(corpus: LabelledCorpus, tokens: int, seed: int) -> LabelledCorpus:
    """Texts of the corpus, drawn at random, of about so many words in all."""
    lengths = np.diff(corpus.words.words.begins)
    order = np.random.default_rng(seed).permutation(len(lengths))
    chosen = np.sort(order[: np.searchsorted(np.cumsum(lengths[order]), tokens)])
    return of_texts(f"{corpus.name}, {tokens:,} words", [corpus.texts[row] for row in chosen])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path, help="the folder with the data files")
    parser.add_argument("corpora", nargs="+")
    arguments = parser.parse_args()
    for name in arguments.corpora:
        corpus = corpus_named(name, arguments.data)
        posed = list(problems(corpus, draws=SEEDS))
        for tokens in TOKENS:
            if tokens > corpus.words.statistics.tokens:
                break
            scores: dict[str, dict[str, list[float]]] = {problem.name: {} for problem in posed}
            for seed in range(SEEDS):
                part = sample(corpus, tokens, seed)
                for factor in FACTORS:
                    found = CountedPairs(part, factor).factorised(Parameters())
                    source = Source.of(part, found, corpus)
                    for problem in posed:
                        known = counts_of(corpus, problem.draws[seed])[:, source.columns]
                        sums = sums_of(known, source.found.rows)
                        vectors = weighed(sums, found.strengths(), found.mean_length)
                        of_factor = scores[problem.name].setdefault(f"{factor:g}", [])
                        of_factor += problem.draws[seed].scores(vectors)
            outcome = kept("windows") if (RESULTS / "windows.json").exists() else {}
            for problem_name, found_scores in scores.items():
                outcome.setdefault(problem_name, {})[f"{tokens:,}"] = found_scores
            keep("windows", outcome)
            print(f"{name}, {tokens:,} words", flush=True)


if __name__ == "__main__":
    main()
