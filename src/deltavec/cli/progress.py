"""Progress on stderr: stage, bar, documents per second and time left.

If stderr is not a terminal, nothing is written and rich is not imported.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from deltavec.io.output.embed_to_file import Progress as Reached


class Stages:
    """One line per stage: a bar for the running stage, the wall time of finished ones.

    Without a display, reports are ignored.
    """

    def __init__(self, progress: Progress | None = None) -> None:
        self._begun = time.perf_counter()
        self.progress = progress
        self.current: TaskID | None = None
        self.documents = 0
        self.resumed: int | None = 0  # documents of an earlier run; None until the next report
        self.reported = False

    @property
    def seconds(self) -> float:
        """Wall time so far, to the millisecond."""
        return round(time.perf_counter() - self._begun, 3)

    def begin(self, stage: str) -> None:
        """Finish the line before, and start one with a bar that moves but does not fill."""
        if self.progress is None:
            return
        self.update(total=1.0, completed=1.0)
        if self.current is not None:
            self.progress.stop_task(self.current)
        self.documents = self.resumed = 0
        self.current = self.progress.add_task(stage, total=None, rate="")

    def update(self, **shown: Any) -> None:
        """Change the line of the running stage, if there is one."""
        if self.progress is not None and self.current is not None:
            self.progress.update(self.current, **shown)

    def reach(self, fraction: float) -> None:
        """Fill the bar up to the fraction; a new pass over the input starts it again."""
        if self.progress is not None and self.current is not None:
            if fraction < self.progress.tasks[-1].completed:
                self.progress.reset(self.current, total=1.0)
            self.update(total=1.0, completed=fraction)

    def add_documents(self, count: int) -> None:
        """Count documents of this stage for the rate."""
        self.documents += count
        if self.progress is not None and self.current is not None and self.documents:
            seconds = self.progress.tasks[-1].elapsed or 1e-3
            self.update(rate=f"{self.documents / seconds:,.0f} documents/s")

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
        if self.progress is not None:
            self.progress.console.print(sentence, style="dim", markup=False)

    def compile(self, kernels: int) -> None:
        """Say that kernels are being compiled, beside the stage that waits for them."""
        self.update(rate=f"compiling, once per machine: {kernels} kernels")

    def notice(self, sentence: str) -> None:
        """Print the line; once documents were reported, it names the next stage instead."""
        if self.reported:
            self.begin(sentence)
        else:
            self.resumed = None
            self.say(sentence)


@contextmanager
def stages(first: str) -> Iterator[Stages]:
    """A progress display for the stages of a command, beginning with the first."""
    if not sys.stderr.isatty():
        yield Stages()
        return
    from deltavec.core.jit import BUDGET

    with bars() as progress:
        shown = Stages(progress)
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
