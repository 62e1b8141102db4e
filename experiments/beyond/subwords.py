r"""Question 5: a row for a word that the fit does not know, from its spelling.

Character n-grams of 3 to 5 letters of ``<word>``. Two ways, both learned from the known words and
their rows T, with no label and no text:

mean    each n-gram is the mean of the rows of the known words that hold it (shrunk where these
        are few), a word the mean of its n-grams, rarer n-grams counting more
ridge   :math:`\min_B \sum_i \lVert T_i - X_i B \rVert^2 + \mu \lVert B \rVert^2`, X the n-grams of
        a word at unit length

The scale of the first and :math:`\mu` of the second are chosen on held-back known words: every
tenth is predicted from the others. Tried on words too rare to be learned in the same corpus, and
on words unknown after a transfer.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from corpora import FORUMS, LabelledCorpus, corpus_named
from outcomes import RESULTS, keep, kept
from problems import counts_of, problems
from scipy import sparse
from spectral_variants import Factorised, Parameters, factorisations, sums_of, weighed

DRAWS = 5
LETTERS = (3, 4, 5)
LEAST_WORDS = 3  # known words that must share an n-gram
SHRINKAGE = 5.0
PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0)
ITERATIONS = 40
TRIALS = (
    ("lee", "lee"),
    *((forum, forum) for forum in FORUMS),
    ("newsgroups", "newsgroups"),
    ("reviews", "reviews"),
    ("newsgroups", "lee"),
    *(("newsgroups", forum) for forum in FORUMS),
    ("newsgroups", "restaurant"),
    ("newsgroups", "attraction"),
    ("hotel", "restaurant"),
    ("hotel", "attraction"),
    ("restaurant", "attraction"),
    ("reviews", "newsgroups"),
    *(("reviews", forum) for forum in FORUMS),
    ("reviews", "lee"),
)

Rows = npt.NDArray[np.float32]


def ngrams(word: str) -> list[str]:
    """The n-grams of a word and its borders."""
    marked = f"<{word}>"
    return [marked[at : at + n] for n in LETTERS for at in range(len(marked) - n + 1)]


class Spelling(NamedTuple):
    """Which n-grams known words share."""

    numbers: dict[str, int]
    weights: npt.NDArray[np.float64]

    @classmethod
    def of(cls, words: list[str]) -> Spelling:
        """The n-grams of these words that a few of them share; rarer ones weigh more."""
        found: dict[str, int] = {}
        for word in words:
            for gram in set(ngrams(word)):
                found[gram] = found.get(gram, 0) + 1
        shared = {gram: count for gram, count in found.items() if count >= LEAST_WORDS}
        weights = np.log(len(words) / np.array([*shared.values(), 1])[:-1])
        return cls({gram: number for number, gram in enumerate(shared)}, weights)

    def matrix(self, words: list[str]) -> sparse.csr_matrix:
        """The weighted n-grams of words, rows of unit length."""
        lists = [[self.numbers[g] for g in ngrams(word) if g in self.numbers] for word in words]
        begins = np.concatenate([[0], np.cumsum([len(listed) for listed in lists])])
        ids = np.array([number for listed in lists for number in listed], np.int64)
        counts = sparse.csr_matrix(
            (self.weights[ids], ids, begins), (len(words), len(self.numbers))
        )
        counts.sum_duplicates()
        lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).reshape(-1))
        scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return (sparse.diags_array(scales) @ counts).tocsr().astype(np.float32)


def by_mean(x: sparse.csr_matrix, rows: Rows, new: sparse.csr_matrix) -> Rows:
    """The rows of new words, up to their scale, as means of known ones that share n-grams."""
    holds = (x > 0).astype(np.float32)
    words = np.asarray(holds.sum(axis=0)).reshape(-1)
    grams = (holds.T @ rows) / (words + SHRINKAGE)[:, None]
    return new @ grams.astype(np.float32)


def by_ridge(x: sparse.csr_matrix, rows: Rows, new: sparse.csr_matrix, penalty: float) -> Rows:
    """The rows of new words by ridge regression, solved by conjugate gradients for all columns."""
    target = x.T @ rows
    solution = np.zeros_like(target)
    residual, direction = target.copy(), target.copy()
    squares = np.einsum("ij,ij->j", residual, residual)
    for _ in range(ITERATIONS):
        moved = x.T @ (x @ direction) + np.float32(penalty) * direction
        step = squares / np.maximum(np.einsum("ij,ij->j", direction, moved), 1e-20)
        solution += step * direction
        residual -= step * moved
        before, squares = squares, np.einsum("ij,ij->j", residual, residual)
        direction = residual + (squares / np.maximum(before, 1e-20)) * direction
    return new @ solution


class Fallback(NamedTuple):
    """A way to guess rows, how it was tuned, and how much it explains of held-back words."""

    guess: Callable[[sparse.csr_matrix], Rows]
    explained: float
    note: str


def fallbacks(words: list[str], rows: Rows) -> tuple[Spelling, dict[str, Fallback]]:
    """Both ways, tuned on every tenth known word."""
    spelling = Spelling.of(words)
    x = spelling.matrix(words)
    held = np.arange(len(words)) % 10 == 0
    truth = rows[held]
    total = float(np.square(truth).sum())
    near = by_mean(x[~held], rows[~held], x[held])
    scale = float((near * truth).sum() / max(float(np.square(near).sum()), 1e-20))
    mean_explained = 1 - float(np.square(truth - scale * near).sum()) / total
    found = {
        penalty: 1 - float(np.square(truth - guessed).sum()) / total
        for penalty in PENALTIES
        for guessed in [by_ridge(x[~held], rows[~held], x[held], penalty)]
    }
    best = max(found, key=lambda penalty: found[penalty])
    return spelling, {
        "mean": Fallback(
            lambda new: np.float32(scale) * by_mean(x, rows, new),
            mean_explained,
            f"scale {scale:.3g}",
        ),
        "ridge": Fallback(
            lambda new: by_ridge(x, rows, new, best), found[best], f"penalty {best:g}"
        ),
    }


def extended(
    source: LabelledCorpus, found: Factorised, target: LabelledCorpus
) -> tuple[dict[str, tuple[npt.NDArray[np.int64], Rows]], dict[str, float]]:
    """The columns of the target and their rows, by each way; what is to be known besides."""
    words = target.words.vocabulary.words
    places = source.words.vocabulary.ids(words)
    is_known = (places >= 0) & (places < len(found.rows))
    known, unknown = np.flatnonzero(is_known), np.flatnonzero(~is_known)
    rows = found.rows[places[known]]
    spelling, tuned = fallbacks(source.words.vocabulary.words[: len(found.rows)], found.rows)
    new = spelling.matrix([words[column] for column in unknown])
    tables = {"nothing": (known, rows)}
    occurrences = target.words.statistics.token_counts
    facts = {"unknown words": float(occurrences[unknown].sum() / occurrences.sum())}
    for name, fallback in tuned.items():
        guessed = fallback.guess(new).astype(np.float32)
        tables[name] = np.concatenate([known, unknown]), np.concatenate([rows, guessed])
        facts[f"{name}, explained"] = fallback.explained
        print(f"  {name}: {fallback.explained:.3f} explained, {fallback.note}", flush=True)
    return tables, facts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the data files")
    parser.add_argument("--cache", type=Path, required=True, help="a folder outside the repository")
    parser.add_argument("--sources", nargs="*", help="only fits of these corpora")
    arguments = parser.parse_args()
    outcome = kept("subwords") if (RESULTS / "subwords.json").exists() else {}
    loaded: dict[str, LabelledCorpus] = {}
    for source_name, target_name in TRIALS:
        if arguments.sources and source_name not in arguments.sources:
            continue
        for name in (source_name, target_name):
            if name not in loaded:
                loaded[name] = corpus_named(name, arguments.data)
        source, target = loaded[source_name], loaded[target_name]
        print(f"{source_name} -> {target_name}", flush=True)
        _, found = next(iter(factorisations(source, [Parameters()], arguments.cache)))
        tables, facts = extended(source, found, target)
        for problem in problems(target, draws=DRAWS):
            scores: dict[str, list[float]] = {}
            for draw in problem.draws:
                counts = counts_of(target, draw)
                for way, (columns, rows) in tables.items():
                    sums = sums_of(counts[:, columns], rows)
                    vectors = weighed(sums, found.strengths(), found.mean_length)
                    scores.setdefault(way, []).extend(draw.scores(vectors))
            outcome.setdefault(problem.name, {})[source_name] = scores | {
                name: [value] for name, value in facts.items()
            }
        keep("subwords", outcome)


if __name__ == "__main__":
    main()
