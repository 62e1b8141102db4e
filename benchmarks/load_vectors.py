"""Loading a GloVe text file: deltavec against gensim, on the same file in the same run.

    python benchmarks/load_vectors.py glove.6B.50d.txt -o benchmarks/results/load_vectors.json

Both give the same words; the matrices are compared after scaling gensim's to unit length. The
first load of deltavec compiles or fetches its hash table from disk and is reported by itself.
"""

from __future__ import annotations

import argparse
import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from gensim.models import KeyedVectors
from measuring import publish, surroundings, timed

from deltavec.io.vectors.load import load_vectors


def largest_difference(keyed: KeyedVectors, matrix: np.ndarray) -> float:
    rows = keyed.vectors.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return float(np.abs(rows - matrix).max())


def has_header(path: Path) -> bool:
    with path.open("rb") as file:
        fields = file.readline().split()
    return len(fields) == 2 and all(field.isdigit() for field in fields)


def measured(path: Path, repeats: int, gensim_repeats: int) -> dict[str, Any]:
    first = timed(lambda: load_vectors(path), 1).seconds[0]
    ours = timed(lambda: load_vectors(path), repeats)
    header = has_header(path)
    theirs = timed(
        lambda: KeyedVectors.load_word2vec_format(str(path), no_header=not header), gensim_repeats
    )
    assert theirs.result.index_to_key == ours.result.words
    return {
        "file": path.name,
        "bytes": path.stat().st_size,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "words": len(ours.result),
        "dimensions": ours.result.dimensions,
        "deltavec_first_seconds": first,
        "deltavec_seconds": ours.seconds,
        "gensim_seconds": theirs.seconds,
        "times_faster": round(theirs.median / ours.median, 1),
        "largest_difference": largest_difference(theirs.result, ours.result.matrix),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, help="GloVe or word2vec text")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--gensim-repeats", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    loads = [
        measured(path, arguments.repeats, arguments.gensim_repeats) for path in arguments.files
    ]
    publish(
        {**surroundings(["gensim", "numba", "numpy", "pyarrow"]), "loads": loads}, arguments.output
    )


if __name__ == "__main__":
    main()
