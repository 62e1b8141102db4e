"""One training in a process of its own; prints the seconds it took, as JSON.

    python -m speed.trainers ppmi folder threads

The folder holds the same documents as ``corpus.parquet`` and, parted into words beforehand in
gensim's favour, as ``corpus.txt``. Imports and compilation are done before the clock starts.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from speed.timing import seconds_of

SMALL = ["the sea is blue and the sky is grey", "a quiet room by the sea", "the room was grey"] * 30


def ppmi(folder: Path, threads: int) -> Callable[[], Any]:
    """``deltavec.train_vectors``: vocabulary, pairs of words and factorisation, 300 dimensions."""
    import deltavec as dv

    dv.train_vectors(SMALL, dimensions=4, threads=threads)
    corpus = dv.read_corpus(folder / "corpus.parquet")
    return lambda: dv.train_vectors(corpus, dimensions=300, threads=threads)


def spectral(folder: Path, threads: int) -> Callable[[], Any]:
    """``deltavec.fit`` with the recipe that learns vectors and model at once."""
    import deltavec as dv

    dv.fit(SMALL, recipe="spectral", threads=threads)
    corpus = dv.read_corpus(folder / "corpus.parquet")
    return lambda: dv.fit(corpus, recipe="spectral", threads=threads)


def word2vec(folder: Path, threads: int) -> Callable[[], Any]:
    """Gensim's ``Word2Vec`` from a file: 300 dimensions, everything else as it comes (CBOW)."""
    from gensim.models import Word2Vec

    return lambda: Word2Vec(
        corpus_file=str(folder / "corpus.txt"), vector_size=300, workers=threads
    )


TRAINERS = {"ppmi": ppmi, "word2vec": word2vec, "spectral": spectral}


if __name__ == "__main__":
    train = TRAINERS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps({"seconds": seconds_of(train)}))
