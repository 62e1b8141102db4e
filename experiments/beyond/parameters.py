"""Questions 1 and 2, and the checks: idf power, identity share, exponent, window, dimensions.

One corpus at a time: counted once for each window, factorised for each set of parameters, and
every set scored on the same resamplings of every problem of the corpus. What is in the results
already is not done again: delete the file to begin anew.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from corpora import CORPORA, LabelledCorpus, corpus_named
from outcomes import RESULTS, keep, kept
from problems import Problem, problems
from spectral_variants import (
    EXPONENTS,
    Factorised,
    Parameters,
    drawn_sums,
    factorisations,
    weighed,
)

VARIATIONS = (
    Parameters(),
    *(Parameters(idf_power=power) for power in (1.5, 2.0, 0.5)),
    *(Parameters(identity_share=share) for share in (0.0, 0.5, 1.5, 2.0, 3.0)),
    Parameters(dimensions=500),
    Parameters(window_factor=0.5),
    Parameters(window_factor=2.0),
    Parameters(idf_power=1.5, identity_share=0.5),
    Parameters(idf_power=1.5, identity_share=1.5),
    Parameters(idf_power=1.5, identity_share=2.0),
    Parameters(idf_power=2.0, identity_share=2.0),
)


def scores_of(
    problem: Problem, corpus: LabelledCorpus, factorised: Factorised
) -> dict[str, list[float]]:
    """The scores of one factorisation by every exponent."""
    scores: dict[str, list[float]] = {f"{exponent:g}": [] for exponent in EXPONENTS}
    for draw in problem.draws:
        sums = drawn_sums(corpus, draw, factorised)
        for exponent in EXPONENTS:
            vectors = weighed(sums, factorised.strengths(exponent), factorised.mean_length)
            scores[f"{exponent:g}"] += draw.scores(vectors)
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the data files")
    parser.add_argument("corpus", choices=CORPORA)
    parser.add_argument("--cache", type=Path, required=True, help="a folder outside the repository")
    arguments = parser.parse_args()
    corpus = corpus_named(arguments.corpus, arguments.data)
    posed = list(problems(corpus))
    name = f"parameters-{corpus.name}"
    outcome = kept(name) if (RESULTS / f"{name}.json").exists() else {}
    missing = [parameters for parameters in VARIATIONS if parameters.name not in outcome]
    begun = time.perf_counter()
    for parameters, factorised in factorisations(corpus, missing, arguments.cache):
        outcome[parameters.name] = {
            problem.name: scores_of(problem, corpus, factorised) for problem in posed
        }
        keep(name, outcome)
        print(f"{time.perf_counter() - begun:.0f} s: {parameters.name}", flush=True)


if __name__ == "__main__":
    main()
