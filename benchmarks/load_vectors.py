"""Loading a GloVe text file: deltavec against gensim, on the same file in the same run.

    python benchmarks/load_vectors.py glove.6B.50d.txt -o benchmarks/results/load_vectors.json

Both give the same words; the matrices are compared after scaling gensim's to unit length. The
first load of deltavec compiles or fetches its hash table from disk and is reported by itself.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gensim.models import KeyedVectors

from deltavec.io.word_vectors import load_vectors


class Timed(NamedTuple):
    """The last result of a function, and the seconds of each run."""

    result: Any
    seconds: list[float]


def timed(function: Callable[[], Any], repeats: int) -> Timed:
    seconds, result = [], None
    for _ in range(repeats):
        del result
        begin = time.perf_counter()
        result = function()
        seconds.append(round(time.perf_counter() - begin, 3))
    return Timed(result, seconds)


def largest_difference(keyed: KeyedVectors, matrix: np.ndarray) -> float:
    rows = keyed.vectors.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return float(np.abs(rows - matrix).max())


def has_header(path: Path) -> bool:
    with path.open("rb") as file:
        fields = file.readline().split()
    return len(fields) == 2 and all(field.isdigit() for field in fields)


def commit() -> str | None:
    folder = Path(__file__).parent
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return answer.stdout.strip() or None


def measured(path: Path, repeats: int, gensim_repeats: int) -> dict[str, Any]:
    first = timed(lambda: load_vectors(path), 1).seconds[0]
    ours = timed(lambda: load_vectors(path), repeats)
    header = has_header(path)
    theirs = timed(
        lambda: KeyedVectors.load_word2vec_format(str(path), no_header=not header), gensim_repeats
    )
    assert theirs.result.index_to_key == ours.result.words
    medians = statistics.median(ours.seconds), statistics.median(theirs.seconds)
    return {
        "file": path.name,
        "bytes": path.stat().st_size,
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "words": len(ours.result),
        "dimensions": ours.result.dimensions,
        "deltavec_first_seconds": first,
        "deltavec_seconds": ours.seconds,
        "gensim_seconds": theirs.seconds,
        "times_faster": round(medians[1] / medians[0], 1),
        "largest_difference": largest_difference(theirs.result, ours.result.matrix),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path, help="GloVe or word2vec text")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--gensim-repeats", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    report = {
        "commit": commit(),
        "python": platform.python_version(),
        "versions": {
            name: version(name) for name in ("deltavec", "gensim", "numba", "numpy", "pyarrow")
        },
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "loads": [
            measured(path, arguments.repeats, arguments.gensim_repeats) for path in arguments.files
        ],
    }
    text = json.dumps(report, indent=2)
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text + "\n")


if __name__ == "__main__":
    main()
