"""How long ``deltavec demo`` takes, quiet and beside two busy loops, and an older version of it.

    python benchmarks/demo.py [--before SOURCES] [--runs 5] [-o RESULT.json]

Beside them two programs of known shape, which say what a busy machine lets anybody have: a loop of
one thread, and two threads that need nothing but a core each. All take turns. ``--before`` is the
``src`` of another checkout; beside busy loops it is left out, it may take a minute there.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from measuring import ROOT, commit, publish, surroundings

DEMO = "import sys; sys.argv = ['deltavec', 'demo']; from deltavec.cli import main; main()"
BUSY = "while True: pass"
ONE_THREAD = "for _ in range(60_000_000): pass"
# Hashing holds no interpreter lock.
TWO_THREADS = """
import hashlib, threading
text = bytes(1 << 25)
def work():
    for _ in range(75): hashlib.sha256(text).digest()
other = threading.Thread(target=work)
other.start(); work(); other.join()
"""


class Program(NamedTuple):
    """Something to be timed."""

    code: str
    sources: Path


class Took(NamedTuple):
    """Seconds by the clock, and of processors."""

    clock: float
    processor: float


def took(program: Program) -> Took:
    """How long a program takes, from its start to its end."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", program.code],
        env={**os.environ, "PYTHONPATH": str(program.sources)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    clock = time.perf_counter() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Took(clock, after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime)


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Let so many processes do nothing as fast as they can."""
    started = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


def measured(programs: dict[str, Program], runs: int) -> dict[str, object]:
    """The medians of each program, quiet and beside two loops, and how they compare."""
    for program in programs.values():
        took(program)  # kernels are compiled, and files read from disk
    quiet: dict[str, list[Took]] = {name: [] for name in programs}
    loaded: dict[str, list[Took]] = {name: [] for name in programs}
    for _ in range(runs):
        for name, program in programs.items():
            quiet[name].append(took(program))
        with busy(2):
            for name, program in programs.items():
                if name != "before":
                    loaded[name].append(took(program))
    return {name: summary(quiet[name], loaded[name]) for name in programs}


def summary(quiet: list[Took], loaded: list[Took]) -> dict[str, object]:
    """What one program took."""
    clock = statistics.median(one.clock for one in quiet)
    found: dict[str, object] = {
        "quiet_seconds": round(clock, 3),
        "quiet_processor_seconds": round(statistics.median(one.processor for one in quiet), 3),
        "quiet_runs": [round(one.clock, 3) for one in quiet],
    }
    if loaded:
        beside = statistics.median(one.clock for one in loaded)
        found["beside_two_loops_seconds"] = round(beside, 3)
        found["beside_two_loops_times_quiet"] = round(beside / clock, 3)
        found["beside_two_loops_runs"] = [round(one.clock, 3) for one in loaded]
    return found


def main() -> None:
    """Measure, print, and write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--before", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    sources = ROOT / "src"
    programs = {"now": Program(DEMO, sources)}
    commits = {"now": commit()}
    if given.before:
        programs = {"before": Program(DEMO, given.before.resolve()), **programs}
        commits = {"before": commit(given.before.parent), **commits}
    programs |= {
        "a loop of one thread": Program(ONE_THREAD, sources),
        "two threads": Program(TWO_THREADS, sources),
    }
    load = os.getloadavg()[0]  # what else the machine had to do
    result = surroundings(["numba", "numpy", "pyarrow"])
    result |= {"commits": commits, "load": load, "runs": given.runs}
    publish(result | {"demo": measured(programs, given.runs)}, given.output)


if __name__ == "__main__":
    main()
