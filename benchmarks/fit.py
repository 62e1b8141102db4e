"""A fit of ``spectral`` beside that of another checkout: seconds, processor time, peak of memory.

    git worktree add BEFORE COMMIT
    python benchmarks/fit.py reviews.parquet --before BEFORE -o benchmarks/results/fit.json

Each fit is a process of its own, and both take turns. Kernels are compiled, and what is imported
is imported, before the clock starts; the stages are what `deltavec.fit` tells of. Processor time
says more than seconds do where others use the machine too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from measuring import ROOT, commit, publish, surroundings

CHILD = """
import json, resource, sys, time
import deltavec as dv

LONG = "the sea is blue and the sky is grey over the quiet old town by the sea where we stayed all"
SMALL = [LONG + " week", "a quiet room by the sea", "the room was grey"] * 40
dv.fit(SMALL, threads=2)
stages, begun = [], [time.perf_counter(), time.process_time()]

def told(name):
    stages.append([name, time.perf_counter() - begun[0], time.process_time() - begun[1]])

begun = [time.perf_counter(), time.process_time()]
dv.fit(dv.read_corpus(sys.argv[1], column="text"), on_stage=told)
told("end")
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
print(json.dumps({"stages": stages, "peak_bytes": peak}))
"""


def fitted(checkout: Path, corpus: Path) -> dict[str, Any]:
    """One fit by the sources of a checkout."""
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src"), "PYTHONWARNINGS": "ignore"}
    answer = subprocess.run(
        [sys.executable, "-c", CHILD, str(corpus)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(answer.stdout.splitlines()[-1])
    stages = found["stages"]
    processor = {
        name: round(later[2] - earlier, 2) for (name, _, earlier), later in pairwise(stages)
    }
    return {
        "seconds": round(stages[-1][1], 1),
        "processor_seconds": round(stages[-1][2], 1),
        "peak_gigabytes": round(found["peak_bytes"] / 1e9, 2),
        "processor_seconds_by_stage": processor,
    }


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The run in the middle of each figure, and all runs."""
    names = ("seconds", "processor_seconds", "peak_gigabytes")
    middle = {name: statistics.median(run[name] for run in runs) for name in names}
    return {**middle, "runs": runs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path, help="a Parquet file with a column text")
    parser.add_argument("--before", type=Path, help="another checkout")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("-o", "--output", type=Path)
    arguments = parser.parse_args()
    checkouts = {"now": ROOT}
    if arguments.before:
        checkouts["before"] = arguments.before
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in checkouts}
    loads = []
    for _ in range(arguments.repeats):
        for name, checkout in checkouts.items():
            runs[name].append(fitted(checkout, arguments.corpus))
            loads.append(round(os.getloadavg()[0], 1))
    report = {
        **surroundings(["numpy", "numba"]),
        "commits": {name: commit(checkout) for name, checkout in checkouts.items()},
        "load_of_the_machine": loads,
        **{name: summary(each) for name, each in runs.items()},
    }
    publish(report, arguments.output)


if __name__ == "__main__":
    main()
