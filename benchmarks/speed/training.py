"""Training word vectors, and the spectral fit, beside gensim's word2vec on the same documents."""

from __future__ import annotations

import json
import re
import statistics
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from speed.launching import launched
from speed.setting import Setting
from speed.text import words_in
from speed.timing import digits, rounded
from speed.trainers import TRAINERS

# word2vec takes minutes; the others are run between, before and after it.
TURNS = ("ppmi", "spectral", "word2vec", "ppmi", "spectral", "ppmi", "spectral")


def training(setting: Setting) -> dict[str, Any]:
    """Seconds and peak memory of each."""
    column = setting.text.column[: setting.plan.training_documents]
    folder = setting.folder / "training"
    folder.mkdir(exist_ok=True)
    write_both(column, folder)
    seconds: dict[str, list[float]] = {name: [] for name in TRAINERS}
    peaks: dict[str, list[int]] = {name: [] for name in TRAINERS}
    for name in TURNS:
        command = [sys.executable, "-m", "speed.trainers", name, str(folder), str(setting.cores)]
        launch = launched(command, setting.cores)
        seconds[name].append(json.loads(launch.output.splitlines()[-1])["seconds"])
        peaks[name].append(launch.peak_bytes)
    middle = {name: statistics.median(some) for name, some in seconds.items()}
    return {
        "documents": len(column),
        "words": words_in(column),
        "dimensions": 300,
        "threads": setting.cores,
        "trainings": [
            {
                "name": name,
                "median_seconds": digits(middle[name]),
                "peak_megabytes": digits(max(peaks[name]) / 1e6),
                "seconds": rounded(seconds[name]),
            }
            for name in TRAINERS
        ],
        "times_faster_than_word2vec": digits(middle["word2vec"] / middle["ppmi"], 3),
    }


def write_both(column: pa.Array, folder: Path) -> None:
    """Write the documents as Parquet for us, and as lines of words for gensim."""
    pq.write_table(pa.table({"text": column}), folder / "corpus.parquet")
    find = re.compile(r"\w+").findall
    with (folder / "corpus.txt").open("w", encoding="utf-8") as file:
        for text in column.to_pylist():
            file.write(" ".join(find(text.lower())) + "\n")
