"""A small corpus, and what comes of a command that is typed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

PLACES = ("sea", "beach", "harbour", "island", "coast", "bay")
ROOMS = ("room", "bed", "bath", "window", "door", "lamp")
MOODS = ("quiet", "loud", "lovely", "shabby", "bright", "cold")


def reviews() -> list[str]:
    """72 short reviews: half of them of the sea, half of rooms."""
    return [
        f"The {mood} {nouns[place]} and the {nouns[(place + step) % 6]}: {MOODS[place]}, {mood}."
        for nouns in (PLACES, ROOMS)
        for step, mood in enumerate(MOODS, 1)
        for place in range(6)
    ]


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)

    @property
    def error(self) -> str:
        """The one line that says what went wrong."""
        assert self.code == 1, self
        assert self.stdout == ""
        lines = self.stderr.splitlines()
        assert len(lines) == 1, self.stderr
        assert lines[0].startswith("deltavec: ")
        assert "bug in deltavec" not in lines[0]
        return lines[0]


class Demonstration(NamedTuple):
    """What the demo left: a folder to be in, and what it printed."""

    folder: Path
    stdout: str
    stderr: str


Deltavec = Callable[..., Outcome]


def command(*arguments: object) -> list[str]:
    """The command line that runs deltavec in a process of its own."""
    return [sys.executable, "-m", "deltavec", *(str(argument) for argument in arguments)]


def wait_for(happened: Callable[[], bool], running: subprocess.Popen[bytes]) -> None:
    """Wait until something has happened, at most a minute and while the process is alive."""
    deadline = time.monotonic() + 60
    while not happened():
        assert running.poll() is None
        assert time.monotonic() < deadline
