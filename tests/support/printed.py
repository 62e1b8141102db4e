"""What a document says that its code prints, beside what it prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

NUMBER = re.compile(r"[-+]?\d*\.\d+")


def ran(code: str, folder: Path) -> str:
    """What code prints in a process of its own, where a warning is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def differences(said: str, printed: str, tolerance: float) -> list[tuple[str, str]]:
    """Lines that differ by more than their spaces, or a number by more than a tolerance."""
    lines = [one.strip().splitlines() for one in (said, printed)]
    assert len(lines[0]) == len(lines[1]), printed
    return [
        (one, other)
        for one, other in zip(*lines, strict=True)
        if shape(one) != shape(other)
        or any(abs(a - b) > tolerance for a, b in zip(numbers(one), numbers(other), strict=True))
    ]


def shape(line: str) -> list[str]:
    return NUMBER.sub("#", line).split()


def numbers(line: str) -> list[float]:
    return [float(one) for one in NUMBER.findall(line)]
