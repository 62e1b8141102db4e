"""The other end of `speed.worker`: start contestants, and let them run one after the other."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from speed.launching import environment

PATIENCE = 400  # seconds for one answer; a contestant that takes longer is reported as absent


class AbsentError(Exception):
    """A contestant that cannot take part, and why."""


class Worker(NamedTuple):
    """A contestant that waits to be told."""

    process: subprocess.Popen[str]
    errors: Path

    def ask(self, line: str) -> dict[str, Any]:
        """Its answer to a line."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError as error:
            raise AbsentError(self.last_words()) from error
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """What it says next."""
        assert self.process.stdout is not None
        impatience = threading.Timer(PATIENCE, self.process.kill)
        impatience.start()
        line = self.process.stdout.readline()
        impatience.cancel()
        if not line:
            raise AbsentError(self.last_words())
        said: dict[str, Any] = json.loads(line)
        if "absent" in said:
            raise AbsentError(said["absent"])
        return said

    def last_words(self) -> str:
        """What it wrote before it ended."""
        self.process.wait()
        lines = self.errors.read_text("utf-8", "replace").strip().splitlines()
        said = lines[-1] if lines else "no reason given"
        if self.process.returncode == -9:
            return f"ended by the system, or no answer within {PATIENCE} s"
        return said


@contextmanager
def working(name: str, given: Path, cores: int) -> Iterator[Worker]:
    """A worker that is started, and ended behind the block."""
    errors = given.with_suffix(".errors")
    command = [sys.executable, "-m", "speed.worker", name, str(given)]
    with (
        errors.open("w") as stream,
        subprocess.Popen(
            command,
            env=environment(cores),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
        ) as process,
    ):
        try:
            yield Worker(process, errors)
        finally:
            process.kill()
