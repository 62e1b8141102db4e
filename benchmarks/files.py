"""From file to file: ``deltavec embed`` and ``index build``, beside the rate in memory.

``million_words_per_second`` of a file leaves out the start of the process, which a file of one
document takes; ``share_of_memory`` compares that rate with embedding the same text in memory.
"""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

import pyarrow.csv
import pyarrow.parquet as pq
from measuring import command
from run import Given, Step
from texts import count_words, read_column

import deltavec as dv

FITTED = 20_000
ENDINGS = (".parquet", ".arrow", ".npy")


def steps(given: Given) -> dict[str, Step]:
    """The corpus as Parquet and CSV, and a file of one document for the start of a process."""
    corpus, folder = Path(given.corpus), given.path
    column = read_column(corpus)
    words = count_words(column)
    model = dv.fit(column[:FITTED])
    model.save(folder / "model.dv")
    table = pq.read_table(corpus)
    pyarrow.csv.write_csv(table, folder / "corpus.csv")
    pq.write_table(table.slice(0, 1), folder / "one.parquet")
    latest: dict[str, float] = {}

    def in_memory() -> dict[str, Any]:
        begin = time.perf_counter()
        model.embed(column, threads=given.threads)
        latest["memory"] = time.perf_counter() - begin
        return {"items": words, "million_words_per_second": words / latest["memory"] / 1e6}

    def embed(source: Path, ending: str) -> Step:
        output = folder / f"vectors{ending}"

        def step() -> dict[str, Any]:
            start = command("embed", "model.dv", "one.parquet", "-o", output, cwd=folder)
            output.unlink()
            taken = command("embed", "model.dv", source, "-o", output, cwd=folder)
            output.unlink()
            steady = taken.wall - start.wall
            found = {**taken._asdict(), "items": words, "start": start.wall}
            found["million_words_per_second"] = words / steady / 1e6
            return found | {"share_of_memory": latest["memory"] / steady}

        return step

    def build() -> dict[str, Any]:
        shutil.rmtree(folder / "built.idx", ignore_errors=True)
        taken = command("index", "build", "model.dv", corpus, "-o", "built.idx", cwd=folder)
        return {**taken._asdict(), "items": given.documents}

    found: dict[str, Step] = {"words in memory": in_memory}
    for ending in ENDINGS:
        if offers(folder, ending):
            found[f"words, Parquet to {ending}"] = embed(corpus, ending)
    found["words, CSV to .parquet"] = embed(folder / "corpus.csv", ".parquet")
    found["documents, index build"] = build
    return found


def offers(folder: Path, ending: str) -> bool:
    """Whether this checkout writes files of this ending."""
    output = folder / f"tried{ending}"
    try:
        command("embed", "model.dv", "one.parquet", "-o", output, cwd=folder)
    except RuntimeError:
        return False
    output.unlink()
    return True
