"""Scores on stdout: methods down, problems across, the best of each in bold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltavec.cli.printing import console, visible

if TYPE_CHECKING:
    from deltavec.evaluation.results import Results


MOST_PROBLEMS = 5  # that fit beside each other


def print_scores(results: Results) -> None:
    """Print what each method scored on each problem; of many problems, the range and the mean."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title=Text(results.measure))
    table.title_justify = "left"
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
