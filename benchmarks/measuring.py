"""What every benchmark needs: repeated timings, and a result that says where it was measured."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
RESULTS = (":(exclude)benchmarks/results", ":(exclude)docs/guides/speed.md")


class Timed(NamedTuple):
    """The last result of a function, and the seconds of each run."""

    result: Any
    seconds: list[float]

    @property
    def median(self) -> float:
        """The time in the middle."""
        return statistics.median(self.seconds)


def timed(function: Callable[[], Any], repeats: int) -> Timed:
    seconds, result = [], None
    for _ in range(repeats):
        result = None  # the last one's memory is free again before the clock starts
        begin = time.perf_counter()
        result = function()
        seconds.append(round(time.perf_counter() - begin, 4))
    return Timed(result, seconds)


def surroundings(packages: Sequence[str]) -> dict[str, Any]:
    """Commit, versions and machine, without anything that names the machine."""
    return {
        "commit": commit(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("deltavec", *packages)},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
    }


def commit(checkout: Path = ROOT) -> str | None:
    """The commit that was measured, marked if files other than results differ from it."""
    git = ["git", "-C", str(checkout)]
    answer = subprocess.run(
        [*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    if answer.returncode != 0:
        return None
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ".", *RESULTS], check=False)
    return answer.stdout.strip() + ("-dirty" if changed.returncode else "")


def publish(report: dict[str, Any], output: Path | None) -> None:
    """Print the report, and write it where it was asked for."""
    text = json.dumps(report, indent=2)
    print(text)
    if output is not None:
        output.write_text(text + "\n")
