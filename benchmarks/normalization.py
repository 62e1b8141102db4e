"""What writing texts in one way costs: rates of embedding with and without, in one run, in turns.

    python benchmarks/normalization.py reviews.parquet sib200.parquet results/normalization.json

One thread, 100 dimensions, processor time, the median of several rounds; texts of one language are
repeated until they are as long as the reviews.
"""

from __future__ import annotations

import json
import platform
import sys
import time
import warnings
from pathlib import Path

import numba
import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

import deltavec as dv
from deltavec.version import __version__

ROUNDS = 7
BYTES = 8_000_000
LANGUAGES = ("deu_Latn", "vie_Latn", "rus_Cyrl", "arb_Arab", "hin_Deva", "tha_Thai", "zho_Hans")


def rates(texts: list[str]) -> dict[str, float]:
    """Megabytes a second, as they are and written in one way."""
    size = sum(len(text.encode()) for text in texts)
    column = pa.array(texts * max(1, BYTES // size), pa.large_string())
    recipe = dv.Recipe(form="spectral", dimensions=100)
    ways = ("none", "folded")
    models = {
        way: dv.fit(texts, recipe=recipe, units="words", normalization=way, threads=1)
        for way in ways
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for _ in range(ROUNDS):
        for way, model in models.items():
            begin = time.process_time()
            model.embed(column, threads=1)
            seconds[way].append(time.process_time() - begin)
    total = column.nbytes / 1e6
    found = {way: round(total / float(np.median(times[1:])), 1) for way, times in seconds.items()}
    ratio = np.median(np.array(seconds["none"][1:]) / np.array(seconds["folded"][1:]))
    return {**found, "ratio": round(float(ratio), 3)}


def main() -> None:
    warnings.simplefilter("ignore")
    reviews = pq.read_table(sys.argv[1], columns=["text"]).slice(0, 12_000)["text"].to_pylist()
    frame = pq.read_table(sys.argv[2])
    result: dict[str, object] = {
        "versions": {
            "deltavec": __version__,
            "python": platform.python_version(),
            "numba": numba.__version__,
            "numpy": np.__version__,
        },
        "reviews": rates(reviews),
        "reviews in ASCII": rates([text.encode("ascii", "ignore").decode() for text in reviews]),
    }
    for language in LANGUAGES:
        own = frame.filter(pa.compute.equal(frame["lang"], language))["text"].to_pylist()
        result[language] = rates(own)
        print(language, result[language], flush=True)
    Path(sys.argv[3]).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
