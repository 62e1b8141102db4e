"""What every benchmark needs: times, memory, and where a result was measured."""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
RESULTS = (":(exclude)benchmarks/results", ":(exclude)docs/reports/speed.md")
MAIN = "from deltavec.cli import main; main()"


class Timed(NamedTuple):
    """The last result of a function, and the seconds of each run."""

    result: Any
    seconds: list[float]

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return statistics.median(self.seconds)


def timed(function: Callable[[], Any], repeats: int) -> Timed:
    """Run a function several times."""
    seconds, result = [], None
    for _ in range(repeats):
        result = None  # frees the memory of the previous one before the clock starts
        begin = time.perf_counter()
        result = function()
        seconds.append(round(time.perf_counter() - begin, 4))
    return Timed(result, seconds)


class Usage(NamedTuple):
    """What a child process took: wall and CPU seconds, and its peak memory."""

    wall: float
    cpu: float
    peak_megabytes: float


def command(*arguments: str | Path, program: str = MAIN, cwd: Path | None = None) -> Usage:
    """Run ``deltavec ARGUMENTS`` (or another program) in a child process that must succeed."""
    begin = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", program, *map(str, arguments)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert child.stderr is not None
    complaint = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stderr.close()
    if child.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {complaint.decode()[-500:]}")
    return Usage(time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def with_children(process: int) -> list[int]:
    """A running process and those that it started (Linux)."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(one for child in children for one in with_children(int(child)))]


def cpu_seconds(process: int) -> float:
    """CPU time of a running process and its children (Linux)."""
    ticks = 0
    for one in with_children(process):
        fields = Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def peak_megabytes(process: int | None = None) -> float:
    """Peak memory of a running process and its children (Linux), by default of this one alone."""
    if process is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    kilobytes = 0
    for one in with_children(process):
        lines = Path(f"/proc/{one}/status").read_text().splitlines()
        kilobytes += int(dict(line.split(":", 1) for line in lines)["VmHWM"].split()[0])
    return kilobytes / 1024


def surroundings(packages: Sequence[str]) -> dict[str, Any]:
    """Commit, versions and machine, without anything that names the machine."""
    return {
        "commit": commit(),
        "python": platform.python_version(),
        "versions": {name: installed for name in packages if (installed := version_of(name))},
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "load": [round(one, 1) for one in os.getloadavg()],
    }


def version_of(package: str) -> str | None:
    """The installed version of a package; None if it is absent."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def commit(checkout: Path = ROOT) -> str | None:
    """The commit that is measured, marked if files other than results differ from it."""
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
    text = json.dumps(report, indent=1)
    print(text)
    if output is not None:
        output.write_text(text + "\n")
