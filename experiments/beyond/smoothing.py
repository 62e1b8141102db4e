"""Documents moved towards their neighbours, and whether that makes better groups.

    python smoothing.py DATA CORPUS ... --cache CACHE

A document becomes its vector plus a share of the mean of its nearest ones, at unit length again.
Groups are those of `deltavec cluster`, as many as there are labels; normalised mutual information
with the labels, and the area under the ROC curve over pairs. Each draw has three quarters of
the labelled documents, at most 3,000, compared as a collection by the model of the whole corpus.
"""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt
from asking import asked
from basis import Strengths, basis_of, compared, documents_in, for_documents
from compare import DRAWS
from corpora import LabelledCorpus, corpus_named
from outcomes import keep
from problems import area
from sklearn.metrics import normalized_mutual_info_score

from deltavec.collection.topics.clusters import grouped
from deltavec.lab.baselines import scaled_rows

MOST = 3_000
PART = 0.75  # of the labelled documents at the most: draws must differ for an error to be seen
FEWEST = 20
WAYS = {
    f"{neighbors} nearest, {share:g}": (neighbors, share)
    for neighbors, share in ((5, 0.5), (5, 1.0), (10, 0.5), (10, 1.0), (20, 1.0), (50, 1.0))
}


def smoothed(
    vectors: npt.NDArray[np.float32], neighbors: int, share: float
) -> npt.NDArray[np.float32]:
    """The vectors, each with a share of the mean of its nearest others."""
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -2)
    nearest = np.argpartition(-cosines, neighbors, axis=1)[:, :neighbors]
    return scaled_rows(vectors + np.float32(share) * vectors[nearest].mean(axis=1))


def labelled(corpus: LabelledCorpus) -> npt.NDArray[np.int64]:
    """The documents with a label that others have too."""
    names, places, sizes = np.unique(corpus.groups, return_inverse=True, return_counts=True)
    has_words = np.diff(corpus.words.words.begins) > 0
    return np.flatnonzero((names[places] != "") & (sizes[places] >= FEWEST) & has_words)


def main() -> None:
    arguments = asked(__doc__)
    warnings.simplefilter("ignore")
    for name in arguments.corpora:
        corpus = corpus_named(name, arguments.data)
        basis = basis_of(corpus, arguments.cache)
        signal = basis.signal(Strengths())
        rows = labelled(corpus)
        found: dict[str, dict[str, list[float]]] = {}
        for seed in range(DRAWS):
            some = min(MOST, round(PART * len(rows)))
            drawn = np.sort(np.random.default_rng(seed).permutation(rows)[:some])
            labels = np.unique(corpus.groups[drawn], return_inverse=True)[1]
            order = np.argsort(labels, kind="stable")
            drawn, labels = drawn[order], labels[order]
            documents = documents_in(basis, [corpus.texts[row] for row in drawn.tolist()])
            vectors = compared(basis, documents, for_documents(signal, documents, Strengths()))
            moved = {"as they are": vectors} | {
                way: smoothed(vectors, *how) for way, how in WAYS.items()
            }
            for way, embedded in moved.items():
                there = np.ones(len(embedded), bool)
                groups = grouped(embedded, there, int(labels.max()) + 1, seed)
                scores = found.setdefault(way, {"nmi": [], "auc": []})
                scores["nmi"].append(float(normalized_mutual_info_score(labels, groups)))
                scores["auc"].append(area(embedded @ embedded.T, labels))
        keep(f"smoothing-{name}", found)
        means = {way: round(float(np.mean(scores["nmi"])), 3) for way, scores in found.items()}
        print(name, means, flush=True)


if __name__ == "__main__":
    main()
