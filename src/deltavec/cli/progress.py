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
    from rich.text import Text

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

    def say(self, sentence: str) -> None:
        """Report an event in a line."""


class Shown(Stages):
    """One line per stage: a bar for the running stage, the wall time of finished ones."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress
        self.current: TaskID | None = None
        self.documents = 0

    def begin(self, stage: str) -> None:
        """Finish the line before, and start one with a bar that moves but does not fill."""
        self._finish()
        self.documents = 0
        self.current = self.progress.add_task(stage, total=None, documents=0)

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
        if self.current is not None:
            self.progress.update(self.current, documents=self.documents)

    def say(self, sentence: str) -> None:
        """Print a line above the bars, which stays."""
        self.progress.console.print(sentence, style="dim", markup=False)

    def _finish(self) -> None:
        if self.current is not None:
            self.progress.update(self.current, total=1.0, completed=1.0)
            self.progress.stop_task(self.current)

    def _task(self, number: TaskID) -> Task:
        return next(task for task in self.progress.tasks if task.id == number)


class Passes:
    """Reports each pass over a corpus; the rate excludes documents of an earlier run."""

    def __init__(self, work: Stages) -> None:
        self.work = work
        self.before: int | None = 0
        self.moving = False

    def begin(self, stage: str) -> None:
        """A pass begins."""
        self.before = 0
        self.work.begin(stage)

    def progress(self, reached: Reached) -> None:
        """Some more documents are done."""
        if self.before is not None:
            self.work.add_documents(reached.documents - self.before)
        self.before = reached.documents
        self.moving = True
        if reached.fraction is not None:
            self.work.reach(reached.fraction)

    def notice(self, sentence: str) -> None:
        """Earlier work is used, or cannot be; or, once documents are done, what comes next."""
        if self.moving:
            self.work.begin(sentence)
        else:
            self.before = None  # how many documents there were, the next report tells
            self.work.say(sentence)


@contextmanager
def stages(first: str) -> Iterator[Stages]:
    """A progress display for the stages of a command, beginning with the first."""
    if not sys.stderr.isatty():
        yield Stages()
        return
    with bars() as progress:
        shown = Shown(progress)
        shown.begin(first)
        yield shown


def bars() -> Progress:
    """Rich's progress display, which disappears at the end."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """Documents per second."""

        def render(self, task: Task) -> Text:
            documents, seconds = task.fields["documents"], task.elapsed
            if not documents or not seconds:
                return Text("")
            return Text(f"{documents / seconds:,.0f} documents/s", style="progress.data.speed")

    class Time(ProgressColumn):
        """The time left of a running stage, the time taken by a finished one."""

        max_refresh = 0.5

        def render(self, task: Task) -> Text:
            if task.finished:
                return Text(clock(task.elapsed or 0), style="progress.elapsed")
            if task.time_remaining is None:
                return Text(f"{clock(task.elapsed or 0)} so far", style="progress.elapsed")
            return Text(f"{clock(task.time_remaining)} left", style="progress.remaining")

    return Progress(
        SpinnerColumn(finished_text="[green]✓"),
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        TaskProgressColumn(),
        Rate(),
        Time(),
        console=Console(stderr=True),
        transient=True,
    )


def clock(seconds: float) -> str:
    """Seconds as minutes and seconds, or hours."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
