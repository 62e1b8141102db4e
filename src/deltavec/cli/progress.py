"""Progress on stderr: stage, bar, documents per second and time left.

If stderr is not a terminal, nothing is written and rich is not imported.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, Task, TaskID

    from deltavec.io.output.embed_to_file import Progress as Reached


class Stages:
    """Progress reports of a command, which this class ignores."""

    def __init__(self) -> None:
        self._begun = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Wall time so far, to the millisecond."""
        return round(time.perf_counter() - self._begun, 3)

    def begin(self, stage: str) -> None:
        """Begin a stage, which ends the one before."""

    def reach(self, fraction: float) -> None:
        """Report the fraction of the input that has been read."""

    def add_documents(self, count: int) -> None:
        """Report more documents of this stage."""

    def report(self, reached: Reached) -> None:
        """Report how far a pass over a corpus has come."""

    def say(self, sentence: str) -> None:
        """Report an event in a line."""

    def notice(self, sentence: str) -> None:
        """Report that work of an earlier run is used, or what follows the pass."""


class Shown(Stages):
    """One line per stage: a bar for the running stage, the wall time of finished ones."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress
        self.current: TaskID | None = None
        self.documents = 0
        self.resumed: int | None = 0  # documents of an earlier run; None until the next report
        self.reported = False

    def begin(self, stage: str) -> None:
        """Finish the line before, and start one with a bar that moves but does not fill."""
        self._finish()
        self.documents = self.resumed = 0
        self.current = self.progress.add_task(stage, total=None, rate="")

    def reach(self, fraction: float) -> None:
        """Fill the bar up to the fraction; a new pass over the input starts it again."""
        if self.current is None:
            return
        task = self._task(self.current)
        if fraction < task.completed:
            self.progress.reset(self.current, total=1.0)
        self.progress.update(self.current, total=1.0, completed=fraction)

    def add_documents(self, count: int) -> None:
        """Count documents for the rate."""
        self.documents += count
        if self.current is not None and self.documents:
            seconds = self._task(self.current).elapsed or 1e-3
            rate = f"{self.documents / seconds:,.0f} documents/s"
            self.progress.update(self.current, rate=rate)

    def report(self, reached: Reached) -> None:
        """Fill the bar; the rate excludes documents of an earlier run."""
        if self.resumed is None:
            self.resumed = reached.documents
        self.reported = True
        self.add_documents(reached.documents - self.resumed - self.documents)
        if reached.fraction is not None:
            self.reach(reached.fraction)

    def say(self, sentence: str) -> None:
        """Print a line above the bars, which stays."""
        self.progress.console.print(sentence, style="dim", markup=False)

    def compile(self, kernels: int) -> None:
        """Say that kernels are being compiled, beside the stage that waits for them."""
        if self.current is not None:
            note = f"compiling, once per machine: {kernels} kernels"
            self.progress.update(self.current, rate=note)

    def notice(self, sentence: str) -> None:
        """Print the line; once documents were reported, it names the next stage instead."""
        if self.reported:
            self.begin(sentence)
        else:
            self.resumed = None
            self.say(sentence)

    def _finish(self) -> None:
        if self.current is not None:
            self.progress.update(self.current, total=1.0, completed=1.0)
            self.progress.stop_task(self.current)

    def _task(self, number: TaskID) -> Task:
        return next(task for task in self.progress.tasks if task.id == number)


@contextmanager
def stages(first: str) -> Iterator[Stages]:
    """A progress display for the stages of a command, beginning with the first."""
    if not sys.stderr.isatty():
        yield Stages()
        return
    from deltavec.core.jit import BUDGET

    with bars() as progress:
        shown = Shown(progress)
        BUDGET.on_compile = shown.compile
        shown.begin(first)
        yield shown
    BUDGET.on_compile = None


def bars() -> Progress:
    """Rich's progress display, which disappears at the end."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    return Progress(
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}", style="progress.data.speed"),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=Console(stderr=True),
        transient=True,
    )
