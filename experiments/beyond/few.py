"""Measured strengths of small corpora: samples of a corpus, and the problems of the whole.

    python few.py DATA CORPUS ...

Models are fitted on samples of so many documents; nearly all documents that are compared are
others. What halves say is taken from two folds, as `deltavec.fit` does, or from more: each is
measured in the table of all others then, which is nearer to that of the whole.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
from basis import Basis, Strengths, compared, documents_in, fitted, for_documents, texts_of
from corpora import CORPORA, corpus_named
from outcomes import keep
from problems import problems

SIZES = (100, 300, 1_000)
SAMPLES = 3
DRAWS = 2
FOLDS = (4,)
VARIATIONS = (
    Strengths(),
    Strengths(n0=300),
    Strengths(n0=3_000),
    Strengths(n0=10_000),
    Strengths(n0=3_000, n1=3_000),
)


def bases(texts: list[str]) -> dict[str, Basis]:
    """The fit of some texts, its halves measured in two folds and in more."""
    two = fitted(texts)
    return {"": two} | {
        f", {folds} folds": two._replace(found=two.in_folds(texts, folds)) for folds in FOLDS
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder with the data files")
    parser.add_argument("corpora", nargs="+", choices=CORPORA)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in arguments.corpora:
        corpus = corpus_named(name, arguments.data)
        posed = list(problems(corpus, draws=DRAWS))
        outcome: dict[str, dict[str, dict[str, list[float]]]] = {}
        for size in SIZES:
            found = outcome.setdefault(str(size), {})
            for sample in range(SAMPLES):
                rows = np.random.default_rng([sample, size]).permutation(len(corpus.texts))[:size]
                made = bases([corpus.texts[row] for row in rows.tolist()])
                for problem in posed:
                    for draw in problem.draws:
                        documents = documents_in(made[""], texts_of(corpus, draw))
                        scores = found.setdefault(problem.name, {})
                        plain = compared(made[""], documents)
                        scores.setdefault("guessed", []).extend(draw.scores(plain))
                        for how, basis in made.items():
                            for constants in VARIATIONS if not how else VARIATIONS[:1]:
                                axes = for_documents(basis.signal(constants), documents, constants)
                                vectors = compared(basis, documents, axes)
                                way = constants.name + how
                                scores.setdefault(way, []).extend(draw.scores(vectors))
            keep(f"few-{name}", outcome)
            print(name, size, flush=True)


if __name__ == "__main__":
    main()
