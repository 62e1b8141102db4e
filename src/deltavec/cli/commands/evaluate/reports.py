"""The folder of a report: what the commands of ``deltavec evaluate`` share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deltavec.cli.outputs import require_folder_of
from deltavec.cli.printing import console, duration, empty_table, visible
from deltavec.cli.progress import Stages, stages
from deltavec.errors import InputError

if TYPE_CHECKING:
    from deltavec.lab.results import Results

CACHE = "cache"
OURS = ("results.json", CACHE)
MOST_PROBLEMS = 5  # that fit beside each other


def checked_report_folder(path: Path) -> Path:
    """The path, if a report can be written there: a new folder, an empty one, or a report's."""
    from deltavec.lab.report.plots import require_matplotlib

    require_matplotlib()
    if not path.exists():
        require_folder_of(path)
        return path
    if not path.is_dir():
        raise InputError(f"{path} is a file; expected the name of a folder for the report")
    if any(path.iterdir()) and not any((path / name).exists() for name in OURS):
        raise InputError(f"{path} holds other files; name a new folder for the report")
    if not os.access(path, os.W_OK):
        raise InputError(f"{path}: the folder may not be written to")
    return path


class Keeper:
    """Writes what is finished into the folder of a report, if there is one.

    Parameters
    ----------
    folder
        The folder.
    work
        What shows the progress.
    """

    def __init__(self, folder: Path | None, work: Stages) -> None:
        from deltavec.lab.experiment import Progress

        self.folder, self._work = folder, work
        self.progress = Progress(work.begin, work.reach, work.say, self.keep)
        self._results: Results | None = None

    @property
    def seconds(self) -> float:
        """How long it took so far."""
        return self._work.seconds

    @property
    def ending(self) -> str:
        """How long it took, and where the report is."""
        where = "" if self.folder is None else f"; the report is {self.folder / 'report.html'}"
        return duration(self.seconds) + where

    def keep(self, results: Results) -> None:
        """One more problem is finished."""
        self._results = results
        if self.folder is not None:
            from deltavec.lab.results import write_whole

            self.folder.mkdir(exist_ok=True)
            write_whole(self.folder / "results.json", results.as_json() + "\n")

    def write_report(self) -> None:
        """Write the report of what there is, if there is anything."""
        if self._results is not None and self.folder is not None:
            from deltavec.lab.report.report import write_report

            write_report(self._results, self.folder)

    def record(self, results: Results) -> dict[str, Any]:
        """The scores and where the time went, for a program."""
        return {
            "report": self.folder,
            "seconds": self.seconds,
            "complete": results.complete,
            "scores": by_problem(results),
            "seconds_by_step": time_by_step(results),
        }


@contextmanager
def reported(folder: Path | None, embedder: str | None) -> Iterator[Keeper]:
    """While an experiment runs: progress is shown, and what is finished becomes a report."""
    with stages("starting") as work:
        if folder is not None:
            checked_report_folder(folder)
        if embedder is not None:  # a module beside the data is found, as python itself would
            sys.path.insert(0, str(Path.cwd()))
        keeper = Keeper(folder, work)
        try:
            yield keeper
        finally:  # interrupted or failed, too: what is there makes a report
            keeper.write_report()


def numbers(text: str, option: str) -> list[int]:
    """The whole numbers that a text such as ``1-5,10`` names."""
    found: set[int] = set()
    for piece in map(str.strip, text.split(",")):
        first, dash, last = piece.partition("-")
        if not (first.isdecimal() and (last.isdecimal() or not dash)):
            raise typer.BadParameter(
                f"expected whole numbers such as 1-20 or 1,5,10, got {text!r}", param_hint=option
            )
        span = range(int(first), int(last or first) + 1)
        if not span or span[0] < 1:
            raise typer.BadParameter(
                f"expected numbers from 1 on, the smaller one first, got {piece!r}",
                param_hint=option,
            )
        found.update(span)
    return sorted(found)


def time_by_step(results: Results) -> dict[str, float]:
    """The seconds that each step took, in this run and in those before; the longest first."""
    return dict(sorted(results.seconds.items(), key=lambda step: -step[1]))


def print_scores(results: Results) -> None:
    """Print what each method scored on each problem; of many problems, the range and the mean."""
    from rich.text import Text

    table = empty_table(title=Text(results.measure))
    table.add_column("method", no_wrap=True)
    columns = by_problem(results) if len(results.problems) <= MOST_PROBLEMS else summed_up(results)
    for name in columns:
        table.add_column(Text(visible(name)), justify="right")
    for method in results.methods:
        cells = []
        for scores in columns.values():
            score = scores.get(method)
            style = "bold green" if score == max(scores.values()) else ""
            cells.append(Text("" if score is None else f"{score:.4f}", style))
        table.add_row(Text(visible(method)), *cells)
    console().print(table)


def by_problem(results: Results) -> dict[str, dict[str, float]]:
    """The scores of each problem."""
    return {problem.name: dict(problem.scores) for problem in results.problems}


def summed_up(results: Results) -> dict[str, dict[str, float]]:
    """The lowest, mean and highest score of each method."""
    found = {
        method: [p.scores[method] for p in results.problems if method in p.scores]
        for method in results.methods
    }
    return {
        "lowest": {method: min(scores) for method, scores in found.items()},
        "mean": {method: sum(scores) / len(scores) for method, scores in found.items()},
        "highest": {method: max(scores) for method, scores in found.items()},
    }
