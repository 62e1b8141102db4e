"""Commands run in processes of their own: how long they took, and how much memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

BENCHMARKS = Path(__file__).parents[1]


class Launch(NamedTuple):
    """What a command took, and what it printed."""

    seconds: float
    peak_bytes: int
    output: str


def environment(cores: int, **more: str) -> dict[str, str]:
    """Variables for a process that may use so many cores, and no network."""
    threads = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"),
        str(cores),
    )
    fixed = {
        "PYTHONPATH": str(BENCHMARKS),
        "TOKENIZERS_PARALLELISM": "true" if cores > 1 else "false",
        "HF_HUB_OFFLINE": "1",
        "PYTHONWARNINGS": "ignore",
    }
    return {**os.environ, **threads, **fixed, **more}


def launched(
    command: Sequence[str], cores: int, *, variables: Mapping[str, str] | None = None
) -> Launch:
    """Run a command through a small process that measures it."""
    answer = subprocess.run(
        [sys.executable, "-m", "speed.launched", *command],
        env=environment(cores, **(variables or {})),
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        raise RuntimeError(f"{Path(command[0]).name} failed: {answer.stderr.strip()[-2000:]}")
    *printed, last = answer.stdout.strip().splitlines()
    measured = json.loads(last)
    return Launch(measured["seconds"], measured["peak_bytes"], "\n".join(printed))


def python(code: str, *arguments: str) -> list[str]:
    """The command that runs some code in this environment's Python."""
    return [sys.executable, "-c", code, *arguments]


def deltavec(*arguments: str) -> list[str]:
    """The command ``deltavec`` of this environment."""
    return [sys.executable, "-m", "deltavec", *arguments]
