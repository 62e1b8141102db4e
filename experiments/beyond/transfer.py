r"""Question 4: fitted on one kind of text, applied to another.

The target's documents are compared with each other, so that length and centre always come from
them (`for_collection`). Ways to use what was learned elsewhere:

own fit            fitted on the target's own corpus
transferred        the source's table as it is
target idf         each word's row times idf in the target over idf in the source
whitened again     the table turned so that the target's words are white
exact b            (1 - b) times the transferred cosine plus b times that of sparse tf-idf with
                   squared idf of the target: the exact-match channel at embed time
exact unknown      words that the source does not know get a direction each, as long as the
                   source's rarest words' rows are on average
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from corpora import FORUMS, LabelledCorpus, corpus_named
from outcomes import RESULTS, keep, kept
from problems import Draw, Products, counts_of, problems, products
from scipy import sparse
from spectral_variants import (
    Factorised,
    Parameters,
    Sums,
    factorisations,
    sums_of,
    weighed,
)

from deltavec.core.forms import length_weights
from deltavec.core.weights import idf
from deltavec.lab.baselines import tfidf
from deltavec.lab.words import Counts

DRAWS = 5
EXACT_SHARES = (0.25, 0.5, 0.75)
# Words that occur at most this often in the source stand for words that it does not know.
RARE = 10
TRANSFERS = (
    ("hotel", "restaurant"),
    ("hotel", "attraction"),
    ("restaurant", "attraction"),
    ("restaurant", "hotel"),
    ("reviews", "newsgroups"),
    ("newsgroups", "restaurant"),
    ("newsgroups", "attraction"),
    *(("newsgroups", forum) for forum in FORUMS),
    *(("reviews", forum) for forum in FORUMS),
    ("newsgroups", "lee"),
    ("reviews", "lee"),
)


class Source(NamedTuple):
    """What was learned elsewhere, for the words of a target.

    Attributes
    ----------
    found : Factorised
        The factorisation, its rows those of the words that both know.
    columns : ndarray of int64
        Those words among the target's.
    unknown : ndarray of int64
        The other words of the target.
    target_idf : ndarray of float64
        idf of all the target's words in the target.
    idf_ratio : ndarray of float32
        idf in the target over idf in the source, of the words that both know.
    rare_length : float
        The mean length of a rare word's row in the source.
    """

    found: Factorised
    columns: npt.NDArray[np.int64]
    unknown: npt.NDArray[np.int64]
    target_idf: npt.NDArray[np.float64]
    idf_ratio: npt.NDArray[np.float32]
    rare_length: float

    @classmethod
    def of(cls, source: LabelledCorpus, found: Factorised, target: LabelledCorpus) -> Source:
        """The source seen from the target."""
        places = source.words.vocabulary.ids(target.words.vocabulary.words)
        known = (places >= 0) & (places < len(found.rows))
        columns = np.flatnonzero(known)
        in_source = idf(source.statistics)[places[columns]]
        in_target = idf(target.words.statistics)
        rare = source.statistics.token_counts <= RARE
        return cls(
            found._replace(rows=found.rows[places[columns]]),
            columns,
            np.flatnonzero(~known),
            in_target,
            (in_target[columns] / np.maximum(in_source, 1e-3)).astype(np.float32),
            float(np.linalg.norm(found.rows[rare], axis=1).mean()),
        )

    def whitened(self, frequencies: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
        """The rows turned and stretched so that words of these frequencies are white."""
        p = (frequencies / frequencies.sum())[:, None]
        rows = self.found.rows.astype(np.float64)
        values, directions = np.linalg.eigh(rows.T @ (p * rows))
        scales = 1 / np.sqrt(np.maximum(values, 1e-6 * values.max()))
        return (rows @ (directions * scales) @ directions.T).astype(np.float32)


def compared(sums: Sums, source: Source) -> Products:
    """The products of documents that are compared with each other."""
    return products(weighed(sums, source.found.strengths(), source.found.mean_length))


def exact_unknown(counts: Counts, sums: Sums, source: Source) -> Products:
    """The products where unknown words match themselves only."""
    lengths = np.asarray(counts.sum(axis=1), np.float64).reshape(-1)
    share = np.divide(sums.lengths, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    all_words = Sums(sums.y * share[:, None].astype(np.float32), lengths)
    strengths = source.found.strengths()
    ratio = lengths.mean() / source.found.mean_length
    weights = length_weights(strengths, ratio)
    dense = (all_words.y - all_words.y.mean(axis=0)) * weights
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    # A direction of its own is as strong as the weakest that the source keeps.
    typical = source.rare_length * np.sqrt(np.mean(weights**2))
    own = sparse.diags_array(scales * typical) @ counts[:, source.unknown]
    found = dense @ dense.T + (own @ own.T).toarray()
    norms = np.sqrt(np.maximum(np.diag(found), 1e-30))
    return (found / np.outer(norms, norms)).astype(np.float32)


def ways(
    target: LabelledCorpus, draw: Draw, source: Source, frequencies: npt.NDArray[np.float64]
) -> Iterator[tuple[str, Products]]:
    """The products of a draw's documents in every way."""
    counts = counts_of(target, draw)
    known = counts[:, source.columns]
    sums = sums_of(known, source.found.rows)
    plain = compared(sums, source)
    squared = products(tfidf(counts, source.target_idf, power=2.0))
    yield "transferred", plain
    yield "tf-idf", products(tfidf(counts, source.target_idf, power=1.0))
    yield "tf-idf2", squared
    adapted = source.found.rows * source.idf_ratio[:, None]
    yield "target idf", compared(sums_of(known, adapted), source)
    yield "whitened again", compared(sums_of(known, source.whitened(frequencies)), source)
    for share in EXACT_SHARES:
        yield f"exact {share:g}", (1 - share) * plain + share * squared
    yield "exact unknown", exact_unknown(counts, sums, source)


def own_ways(
    target: LabelledCorpus, draw: Draw, found: Factorised
) -> Iterator[tuple[str, Products]]:
    """The target's own fit, and the exact-match channel beside it."""
    counts = counts_of(target, draw)
    sums = sums_of(counts[:, : len(found.rows)], found.rows)
    plain = products(weighed(sums, found.strengths(), found.mean_length))
    squared = products(tfidf(counts, idf(target.words.statistics), power=2.0))
    yield "own fit", plain
    for share in EXACT_SHARES:
        yield f"own fit, exact {share:g}", (1 - share) * plain + share * squared


def unknown_share(target: LabelledCorpus, source: Source) -> float:
    """The share of the target's words that the source does not know."""
    counts = target.words.statistics.token_counts
    return float(counts[source.unknown].sum() / counts.sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the folder with the data files")
    parser.add_argument("--cache", type=Path, required=True, help="a folder outside the repository")
    parser.add_argument("--own", nargs="*", help="only the own fits of these corpora")
    arguments = parser.parse_args()
    outcome = kept("transfer") if (RESULTS / "transfer.json").exists() else {}
    pairs = [(name, name) for name in arguments.own] if arguments.own else TRANSFERS
    loaded: dict[str, LabelledCorpus] = {}
    for source_name, target_name in pairs:
        for name in (source_name, target_name):
            if name not in loaded:
                loaded[name] = corpus_named(name, arguments.data)
        source, target = loaded[source_name], loaded[target_name]
        _, found = next(iter(factorisations(source, [Parameters()], arguments.cache)))
        seen = Source.of(source, found, target)
        frequencies = target.words.statistics.token_counts[seen.columns].astype(np.float64)
        for problem in problems(target, draws=DRAWS):
            scores: dict[str, list[float]] = {}
            for draw in problem.draws:
                drawn = (
                    own_ways(target, draw, found)
                    if source is target
                    else ways(target, draw, seen, frequencies)
                )
                for way, products_ in drawn:
                    scores.setdefault(way, []).extend(draw.judge(products_))
            outcome.setdefault(problem.name, {})[source_name] = scores | {
                "unknown words": [unknown_share(target, seen)]
            }
        keep("transfer", outcome)
        print(f"{source_name} -> {target_name}", flush=True)


if __name__ == "__main__":
    main()
