r"""Question 3: documents of mixed lengths, each with a lambda of its own.

.. math:: \lambda_d = \bar\lambda^{\,1 - c} (N_d / L_0)^c

c = 0 is what `for_collection` does (one lambda, from the mean length), c = 1 a lambda for each
document, c = .5 half way. Documents as they come, and made more uneven: a third each of 1, 4 and
12 texts (half each of 1 and 4 in newsgroups); questions and stories, every other one cut to its
first 20 words.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from corpora import CORPORA, LabelledCorpus, corpus_named
from outcomes import keep
from problems import (
    DRAWS,
    NEWSGROUP_TASKS,
    REVIEW_TASKS,
    Draw,
    GroupTask,
    Problem,
    area,
    counts_of,
    group_rows,
    problems,
)
from scipy import sparse
from spectral_variants import Factorised, Parameters, Sums, factorisations, sums_of

from deltavec.core.forms import length_weights
from deltavec.lab.baselines import scaled_rows
from deltavec.lab.words import Counts, Words

SHARES = (0.0, 0.5, 1.0)
CUT = 20


def weighed_apart(sums: Sums, factorised: Factorised, share: float) -> npt.NDArray[np.float32]:
    """The documents, each direction weighed by the document's own length to this share."""
    known = sums.lengths > 0
    ratios = np.where(known, sums.lengths, 1.0) / factorised.mean_length
    mean = sums.lengths[known].mean() / factorised.mean_length
    own = mean ** (1 - share) * ratios**share
    weights = length_weights(factorised.strengths()[None, :], own[:, None])
    middle = sums.y[known].mean(axis=0, dtype=np.float64)
    return scaled_rows((sums.y - middle) * weights * known[:, None])


def mixed(corpus: LabelledCorpus, tasks: tuple[GroupTask, ...]) -> Iterator[tuple[str, list]]:
    """Documents of different numbers of texts in one collection, as counts and a judge."""
    for kind in dict.fromkeys(task.kind for task in tasks):
        sizes = [task.texts for task in tasks if task.kind == kind]
        least = max(task.least for task in tasks if task.kind == kind)
        each = 5 if kind != "attraction" else 4
        rows = group_rows(corpus, kind, max(least, each * sum(sizes)))
        labels = np.repeat(np.arange(len(rows)), each * len(sizes))
        yield (
            f"{kind or 'newsgroups'} k=" + "+".join(map(str, sizes)),
            [mixed_draw(corpus, rows, sizes, each, labels, seed) for seed in range(DRAWS)],
        )


def mixed_draw(
    corpus: LabelledCorpus,
    rows: list[npt.NDArray[np.int64]],
    sizes: list[int],
    each: int,
    labels: npt.NDArray[np.int64],
    seed: int,
) -> tuple[Counts, Draw]:
    """So many documents of each size from each location."""
    parts = []
    for place, of_group in enumerate(rows):
        drawn = np.random.default_rng([seed, 99, place]).permutation(of_group)
        for k in sizes:
            parts += [drawn[at * k : (at + 1) * k] for at in range(each)]
            drawn = drawn[each * k :]
    begins = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    picked = sparse.csr_matrix(
        (np.ones(begins[-1], np.int32), np.concatenate(parts), begins),
        (len(parts), len(corpus.texts)),
    )
    draw = Draw(np.zeros((0, 1), np.int64), lambda found: [area(found, labels)], labels)
    return picked @ corpus.words.counts, draw


def cut(problem: Problem) -> tuple[Counts, Draw]:
    """The documents of a problem, every other one cut short."""
    (draw,) = problem.draws
    words = problem.corpus.words.words
    lists = [
        words.of_document(place)[: CUT if number % 2 else None]
        for number, place in enumerate(draw.places[:, 0].tolist())
    ]
    begins = np.concatenate([[0], np.cumsum([len(listed) for listed in lists])])
    counts = Words(np.concatenate(lists), begins).counts(len(problem.corpus.words.vocabulary))
    return counts, draw


def collections(corpus: LabelledCorpus) -> Iterator[tuple[str, list[tuple[Counts, Draw]]]]:
    """Every collection of a corpus: as it comes, and more uneven."""
    for problem in problems(corpus):
        if "k=4" in problem.name or "k=12" in problem.name:
            continue
        yield problem.name, [(counts_of(corpus, draw), draw) for draw in problem.draws]
        if problem.bootstrap:
            yield f"{problem.name}, every other cut", [cut(problem)]
    if corpus.name in ("reviews", "newsgroups"):
        yield from mixed(corpus, REVIEW_TASKS if corpus.name == "reviews" else NEWSGROUP_TASKS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the data files")
    parser.add_argument("corpora", nargs="+", choices=CORPORA)
    parser.add_argument("--cache", type=Path, required=True, help="a folder outside the repository")
    arguments = parser.parse_args()
    for name in arguments.corpora:
        corpus = corpus_named(name, arguments.data)
        _, factorised = next(iter(factorisations(corpus, [Parameters()], arguments.cache)))
        outcome: dict[str, dict[str, list[float]]] = {}
        for title, drawn in collections(corpus):
            scores: dict[str, list[float]] = {f"{share:g}": [] for share in SHARES}
            spread = []
            for counts, draw in drawn:
                sums = sums_of(counts[:, : len(factorised.rows)], factorised.rows)
                spread.append(float(np.std(sums.lengths) / np.mean(sums.lengths)))
                for share in SHARES:
                    scores[f"{share:g}"] += draw.scores(weighed_apart(sums, factorised, share))
            outcome[title] = scores | {"spread of lengths": [float(np.mean(spread))]}
            keep(f"lengths-{name}", outcome)
            print(title, flush=True)


if __name__ == "__main__":
    main()
