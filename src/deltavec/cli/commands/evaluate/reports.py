"""What the commands of ``deltavec evaluate`` share: options, the report folder, the table."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltavec.cli import options
from deltavec.cli.commands.vectors.train import Method
from deltavec.cli.outputs import require_folder_of
from deltavec.cli.printing import console, duration, empty_table, print_json, visible
from deltavec.cli.progress import stages
from deltavec.errors import InputError

if TYPE_CHECKING:
    from deltavec.lab.results import Results

MOST_PROBLEMS = 5  # columns that fit on a screen

ReportFolder = Annotated[
    Path,
    options.output(
        "REPORT",
        "The folder for results.json, report.md and report.html. The same command resumes from it.",
    ),
]
Vectors = Annotated[
    Path | None, options.word_vectors("Word vectors. By default they are trained on the texts.")
]
VectorsMethod = Annotated[
    Method | None,
    typer.Option(show_default="ppmi", help="How to train them; the paper used word2vec."),
]
Skip = Annotated[
    str, options.option("NAMES", "Baselines to skip: doc2vec, tf-idf, lsa, separated by commas.")
]
Embedder = Annotated[
    str | None,
    options.option(
        "MODULE:FUNCTION",
        "Your own function from a list of texts to a matrix, as one more column.",
    ),
]
Seed = Annotated[int, options.count("The seed of all random draws.", least=0)]


def evaluate(
    benchmark: Callable[..., Results],
    folder: Path | None,
    as_json: bool,
    *,
    vectors: Path | None,
    vectors_method: Method | None,
    skip: str,
    embedder: str | None,
    **settings: Any,
) -> None:
    """Run an experiment, write its report to a folder, and print its scores.

    A run that is interrupted or fails leaves a report of the problems that are finished.
    """
    from deltavec.lab.experiment import Progress
    from deltavec.lab.report.report import write_report

    if vectors is not None and vectors_method is not None:
        raise typer.BadParameter("not with --vectors", param_hint="'--vectors-method'")
    finished: list[Results] = []
    with stages("starting") as work:
        if folder is not None:
            require_report_folder(folder)
        find_modules_here(embedder)
        try:
            results = benchmark(
                vectors=vectors,
                vectors_method=(vectors_method or Method.ppmi).value,
                skip=[name.strip() for name in skip.split(",") if name.strip()],
                embedder=embedder,
                folder=folder,
                progress=Progress(work.begin, work.reach, work.say, finished.append),
                **settings,
            )
        finally:
            if finished and folder is not None:
                write_report(finished[-1], folder)
    if as_json:
        rows = results.problems
        print_json(
            {
                "report": folder,
                "seconds": work.seconds,
                "complete": results.complete,
                "scores": {row.name: row.scores for row in rows},
                "lengths": {row.name: row.lengths and asdict(row.lengths) for row in rows},
                "details": {row.name: row.details for row in rows},
            }
        )
        return
    print_scores(results)
    report = "" if folder is None else f"; the report is {folder / 'report.html'}"
    typer.echo(f"\n{duration(work.seconds)}{report}")


def require_report_folder(path: Path) -> None:
    """Refuse a folder that a report cannot be written to; it may be new, empty or a report's."""
    from deltavec.lab.report.drawing import require_matplotlib

    require_matplotlib()
    if not path.exists():
        require_folder_of(path)
    elif not path.is_dir():
        raise InputError(f"{path} is a file; expected the name of a folder for the report")
    elif any(path.iterdir()) and not [*path.glob("results.json"), *path.glob("vectors-*")]:
        raise InputError(f"{path} holds other files; name a new folder for the report")
    elif not os.access(path, os.W_OK):
        raise InputError(f"{path}: no permission to write to the folder")


def find_modules_here(embedder: str | None) -> None:
    """Let an embedder's module be found in the current folder, as Python itself would."""
    if embedder is not None:
        sys.path.insert(0, str(Path.cwd()))


def print_scores(results: Results) -> None:
    """Print the score of each method on each problem; of many problems, the range and the mean."""
    from rich.text import Text

    columns: dict[str, dict[str, float]] = {p.name: {**p.scores} for p in results.problems}
    if len(columns) > MOST_PROBLEMS:
        found = {m: [s[m] for s in columns.values() if m in s] for m in results.methods}
        columns = {
            "lowest": {method: min(scores) for method, scores in found.items()},
            "mean": {method: sum(scores) / len(scores) for method, scores in found.items()},
            "highest": {method: max(scores) for method, scores in found.items()},
        }
    table = empty_table(title=Text(results.measure))
    table.add_column("method", no_wrap=True)
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
