"""The folder of a report: what the commands of ``deltavec evaluate`` share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deltavec.cli.outputs import require_folder_of
from deltavec.errors import InputError

if TYPE_CHECKING:
    from deltavec.evaluation.results import Results

CACHE = "cache"
OURS = ("results.json", CACHE)


def checked_report_folder(path: Path) -> Path:
    """The path, if a report can be written there: a new folder, an empty one, or a report's."""
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
    """Writes what is finished into the folder of a report."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results: Results | None = None

    def keep(self, results: Results) -> None:
        """One more problem is finished."""
        from deltavec.evaluation.results import write_results

        self.folder.mkdir(exist_ok=True)
        write_results(results, self.folder)
        self.results = results

    def write_report(self) -> None:
        """Write the report of what there is, if there is anything."""
        if self.results is not None:
            from deltavec.evaluation.report import write_report

            write_report(self.results, self.folder)


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
    """The seconds that each step took, over all problems; the longest first."""
    total: dict[str, float] = {}
    for problem in results.problems:
        for step, seconds in problem.details.get("seconds", {}).items():
            total[step] = total.get(step, 0.0) + seconds
    longest_first = sorted(total.items(), key=lambda entry: -entry[1])
    return {step: round(seconds, 3) for step, seconds in longest_first}
