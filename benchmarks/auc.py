"""The exact ROC AUC over all pairs of documents: deltavec against NumPy and scikit-learn.

    python benchmarks/auc.py -o benchmarks/results/auc.json

Both get the same vectors in the same run: 60 groups of 250 documents, 100 dimensions, drawn around
a center for each group. The plain way is the product of all vectors, its upper triangle, and
``roc_auc_score``.
"""

from __future__ import annotations

import argparse
import resource
from pathlib import Path

import numpy as np
from measuring import publish, surroundings, timed
from sklearn.metrics import roc_auc_score

import deltavec as dv


def drawn(groups: int, size: int, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(groups), size)
    centers = 0.3 * rng.standard_normal((groups, dimensions))
    vectors = rng.standard_normal((len(labels), dimensions)) + centers[labels]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors.astype(np.float32), labels


def plain_auc(vectors: np.ndarray, labels: np.ndarray) -> float:
    upper = np.triu_indices(len(vectors), 1)
    same = labels[upper[0]] == labels[upper[1]]
    return float(roc_auc_score(same, (vectors @ vectors.T)[upper]))


def peak_megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--groups", type=int, default=60)
    parser.add_argument("--documents-per-group", type=int, default=250)
    parser.add_argument("--dimensions", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    vectors, labels = drawn(arguments.groups, arguments.documents_per_group, arguments.dimensions)
    dv.pairwise_auc(vectors[:1000], labels[:1000])  # compiled, or fetched from the cache
    before = peak_megabytes()
    ours = timed(lambda: dv.pairwise_auc(vectors, labels), arguments.repeats)
    after = peak_megabytes()
    plain = timed(lambda: plain_auc(vectors, labels), 1)
    report = {
        **surroundings(["numba", "numpy", "scikit-learn"]),
        "documents": len(vectors),
        "dimensions": vectors.shape[1],
        "pairs": len(vectors) * (len(vectors) - 1) // 2,
        "deltavec_seconds": ours.seconds,
        "numpy_and_scikit_learn_seconds": plain.seconds,
        "times_faster": round(plain.median / ours.median, 1),
        "difference": abs(ours.result - plain.result),
        "megabytes_before": before,
        "peak_megabytes_with_deltavec": after,
        "peak_megabytes_with_numpy_and_scikit_learn": peak_megabytes(),
    }
    publish(report, arguments.output)


if __name__ == "__main__":
    main()
