r"""A question that came up: the strengths of directions, corrected by the documents compared.

A fit on a mixed file ranks directions by what tells its documents apart, hotels from restaurants
first of all. Among restaurants that direction says little. What a direction does among the
documents that are compared can be measured without labels: the variance of their y less what the
choice of words alone would give (the variance of T within a document over its length), the signal,
over the variance of T within documents.

.. math:: v_j = \frac{\mathrm{signal}_j / \mathrm{token}_j}
          {\mathrm{signal}^0_j / \mathrm{token}^0_j}, \quad g'_j \propto g_j\, v_j^{c},
          \quad T'_j = T_j / \sqrt{\mathrm{token}_j / \mathrm{token}^0_j}

with :math:`{}^0` the same in a sample of the fitting corpus. c = 0 is what `for_collection` does.

one share B   log v (and the rescaling) times B = 1 - (its sampling variance) / (its variance)
each its own  the same for each direction, by its own sampling variance
reliability   nothing but the collection: w = (signal / variance) / sqrt(variance)
flat          all directions alike

``--fresh``: parts of the newsgroups (all ``comp.*`` and so on), which nobody looked at while the
ways above were thought up.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from corpora import CORPORA, LabelledCorpus, corpus_named
from outcomes import keep
from problems import GroupTask, Problem, counts_of, group_problem, problems
from spectral_variants import Factorised, Parameters, Sums, factorisations, sums_of

from deltavec.core.forms import length_weights
from deltavec.lab.baselines import scaled_rows
from deltavec.lab.words import Counts

DRAWS = 5
SAMPLE = 4_000
LEAST_SIGNAL = 0.02  # of the variance: below, a direction's signal is not told from none
MOST_ERROR = 4.0  # of log v, as a variance

Floats = npt.NDArray[np.float64]


class Directions(NamedTuple):
    """What each direction does among some documents.

    Attributes
    ----------
    signal, variance : ndarray
        The variance of y between documents, less and with what the choice of words gives.
    token : ndarray
        The variance of T within documents.
    error : ndarray
        The variance of log signal by sampling.
    """

    signal: Floats
    variance: Floats
    token: Floats
    error: Floats


def directions_of(counts: Counts, sums: Sums, squares: npt.NDArray[np.float32]) -> Directions:
    """What each direction does among these documents; squares are those of T."""
    usable = sums.lengths > 1
    length = sums.lengths[usable][:, None]
    y = sums.y[usable].astype(np.float64)
    within = (sums_of(counts[usable], squares).y - y**2) * length / (length - 1)
    between = np.square(y - y.mean(axis=0)) - within / length
    variance = y.var(axis=0)
    signal = np.maximum(between.mean(axis=0), LEAST_SIGNAL * variance)
    error = np.minimum(between.var(axis=0) / len(y) / signal**2, MOST_ERROR)
    return Directions(signal, variance, (within * length).sum(axis=0) / length.sum(), error)


def weightings(
    found: Factorised, corpus: Directions, here: Directions, ratio: float
) -> dict[str, Floats]:
    """The weight of each direction in every way."""
    strengths = found.strengths()
    v = np.log(here.signal / here.token) - np.log(corpus.signal / corpus.token)
    v -= v.mean()
    scale = 0.5 * (np.log(here.token) - np.log(corpus.token))
    spread = max(float(np.mean(v**2)), 1e-12)
    error = here.error + corpus.error
    one = max(0.0, 1 - float(np.median(error)) / spread)
    each = one * spread / (one * spread + error)

    def corrected(power: float, share: Floats | float) -> Floats:
        raised = strengths * np.exp(power * share * v)
        g = np.minimum(raised / np.sort(raised)[-2], 1.0)
        return length_weights(g, ratio) / np.exp(share * scale)

    return {
        "default": length_weights(strengths, ratio),
        "c=0.5": corrected(0.5, 1.0),
        "c=1": corrected(1.0, 1.0),
        "c=0.5, one share": corrected(0.5, one),
        "c=0.5, each its own": corrected(0.5, each),
        "reliability": here.signal / here.variance / np.sqrt(here.variance),
        "flat": np.ones_like(strengths),
    }


def fresh_problems(corpus: LabelledCorpus) -> Iterator[Problem]:
    """Newsgroups of one hierarchy to tell apart, with the fit on all of them."""
    for hierarchy in ("comp", "rec", "sci", "talk"):
        kinds = np.where(np.char.startswith(corpus.groups, f"{hierarchy}."), hierarchy, "")
        part = replace(corpus, kinds=kinds)
        for k in (1, 4):
            task = GroupTask(f"{hierarchy}.* k={k}", hierarchy, k, 40, 0)
            yield group_problem(part, task, DRAWS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("data", type=Path, help="the folder with the data files")
    parser.add_argument("corpora", nargs="+", choices=CORPORA)
    parser.add_argument("--cache", type=Path, required=True, help="a folder outside the repository")
    parser.add_argument("--fresh", action="store_true", help="parts of the newsgroups")
    arguments = parser.parse_args()
    for name in arguments.corpora:
        corpus = corpus_named(name, arguments.data)
        _, found = next(iter(factorisations(corpus, [Parameters()], arguments.cache)))
        squares = found.rows**2
        rows = np.random.default_rng(5).permutation(len(corpus.texts))[:SAMPLE]
        some = corpus.words.counts[np.sort(rows)][:, : len(squares)].tocsr()
        usual = directions_of(some, sums_of(some, found.rows), squares)
        outcome: dict[str, dict[str, list[float]]] = {}
        posed = fresh_problems(corpus) if arguments.fresh else problems(corpus, draws=DRAWS)
        for problem in posed:
            scores: dict[str, list[float]] = {}
            for draw in problem.draws:
                counts = counts_of(corpus, draw)[:, : len(squares)].tocsr()
                sums = sums_of(counts, found.rows)
                known = sums.lengths > 0
                centred = (sums.y - sums.y[known].mean(axis=0)) * known[:, None]
                ratio = float(sums.lengths[known].mean()) / found.mean_length
                here = directions_of(counts, sums, squares)
                for way, weights in weightings(found, usual, here, ratio).items():
                    vectors = scaled_rows(centred * weights)
                    scores.setdefault(way, []).extend(draw.scores(vectors))
            outcome[problem.name] = scores
            keep(f"adaptation-{'fresh' if arguments.fresh else name}", outcome)
            print(problem.name, flush=True)


if __name__ == "__main__":
    main()
