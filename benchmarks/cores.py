"""What limits many cores: how much of each job one thread does alone.

    python benchmarks/cores.py reviews.parquet -o benchmarks/results/cores.json

Threads of ours do what can be shared out; the thread that called hands it to them, and does the
rest. So the processor time of that one thread, stage by stage, is what stays when there are more
cores: with n of them a stage takes at least ``alone + shared / n``. The prediction for 2 cores
stands beside the clock, which it must meet for the others to be believed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from typing import Any

from measuring import publish, surroundings

CORES = (1, 2, 16, 64)

BEGIN = """
import json, sys, time
import pyarrow.parquet as pq
import deltavec as dv
from deltavec.io.output.embed_to_file import embed_to_file

source, folder, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
corpus = dv.read_corpus(source, column="text")
column = pq.read_table(source, columns=["text"])["text"].combine_chunks()
LONG = "the sea is blue and the sky is grey over the quiet old town by the sea where we stayed all"
SMALL = [LONG + " week", "a quiet room by the sea", "the room was grey"] * 40
stages = []

def told(name):
    stages.append([name, time.perf_counter(), time.process_time(), time.thread_time()])
"""

JOBS = {
    "fit": """
dv.fit(SMALL, threads=threads)
model = dv.fit(corpus, on_stage=told, threads=threads)
told("end")
model.save(folder + "/model.dv")
""",
    "embed in memory": """
model = dv.load(folder + "/model.dv")
model.embed(column[:20_000], threads=threads)
told("embedding")
model.embed(column, threads=threads)
told("end")
""",
    "embed, Parquet to Parquet": """
model = dv.load(folder + "/model.dv")
model.embed(column[:20_000], threads=threads)
told("embedding")
embed_to_file(model, corpus, folder + "/vectors.parquet", threads=threads)
told("end")
""",
}


def stages_of(job: str, source: Path, folder: str, threads: int) -> list[dict[str, Any]]:
    """What each stage of a job took: clock, all threads, the thread that called."""
    answer = subprocess.run(
        [sys.executable, "-c", BEGIN + JOBS[job] + "print(json.dumps(stages))",
         str(source), folder, str(threads)],
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    stages = json.loads(answer.stdout.splitlines()[-1])
    return [
        {"stage": a[0], "clock": b[1] - a[1], "all": b[2] - a[2], "alone": b[3] - a[3]}
        for a, b in pairwise(stages)
    ]


def accounted(runs: list[list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """The medians of each stage and of all of them, and what they say of more cores."""
    totals = [
        {"stage": "all", **{key: sum(s[key] for s in run) for key in ("clock", "all", "alone")}}
        for run in runs
    ]
    rows = []
    for same in [*zip(*runs, strict=True), totals]:
        middle = {k: statistics.median(s[k] for s in same) for k in ("clock", "all", "alone")}
        alone, shared = middle["alone"], middle["all"] - middle["alone"]
        rows.append(
            {
                "stage": same[0]["stage"],
                "clock_seconds": round(middle["clock"], 2),
                "processor_seconds": round(middle["all"], 2),
                "alone_seconds": round(alone, 3),
                "predicted_seconds": {n: round(alone + shared / n, 2) for n in CORES},
                "at_most_times_as_fast": round(middle["all"] / max(alone, 1e-3), 1),
            }
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path, help="a Parquet file with a column text")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--jobs", nargs="+", default=list(JOBS), choices=list(JOBS))
    parser.add_argument("--model", help="a folder with model.dv, where fit is not among the jobs")
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    report: dict[str, Any] = {**surroundings(["numpy", "numba", "pyarrow"]), "jobs": {}}
    with tempfile.TemporaryDirectory() as made:
        folder = arguments.model or made
        for job in arguments.jobs:
            runs = [stages_of(job, arguments.source, folder, 2) for _ in range(arguments.repeats)]
            report["jobs"][job] = accounted(runs)
    report["load"] = round(os.getloadavg()[0], 1)
    publish(report, arguments.output)


if __name__ == "__main__":
    main()
