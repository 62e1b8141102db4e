"""The tables of a report, as data: what they say is settled here, how they look elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from deltavec.evaluation.findings import Count, findings
from deltavec.evaluation.published_tables import IDF_AHEAD
from deltavec.evaluation.results import Problem, Results

# The columns of the paper's Tables 1 and 2, in its order.
PAPER_COLUMNS = (
    "idf-sum",
    "idf-sum-pca",
    "idf-center",
    "idf-center-pca",
    "idf-delta",
    "idf-delta-pca",
    "unit-sum",
    "d2v-mc1",
    "d2v-mc5",
    "doc2vec",
)


class Cell(NamedTuple):
    """What stands in one place of a table.

    Attributes
    ----------
    text : str
        As it is read.
    best : bool
        Whether to set it in bold.
    share : float or None
        A fraction to draw a bar of.
    """

    text: str
    best: bool = False
    share: float | None = None


class Table(NamedTuple):
    """A table; all columns but the first hold numbers, unless ``prose``."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    prose: bool = False


def decimals(value: float, digits: int) -> str:
    """A score the way papers print it: .9304."""
    text = f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def of_paper(methods: Iterable[str]) -> list[str]:
    """The methods that the paper's tables have, in their order."""
    there = set(methods)
    return [column for column in PAPER_COLUMNS if column in there]


def problem_table(
    caption: str, corner: str, problems: Sequence[Problem], methods: Sequence[str], digits: int
) -> Table:
    """One row for each problem, its best score in bold."""
    rows = (
        (Cell(problem.name), *score_cells([problem.scores.get(m) for m in methods], digits))
        for problem in problems
    )
    return Table(caption, (corner, *methods), tuple(rows))


def method_table(
    caption: str, problems: Sequence[Problem], methods: Sequence[str], digits: int
) -> Table:
    """One row for each method, the best score of each problem in bold."""
    columns = [
        score_cells([problem.scores.get(method) for method in methods], digits)
        for problem in problems
    ]
    rows = (
        (Cell(method), *(column[row] for column in columns)) for row, method in enumerate(methods)
    )
    return Table(caption, ("method", *(problem.name for problem in problems)), tuple(rows))


def score_cells(scores: Sequence[float | None], digits: int) -> list[Cell]:
    """Scores that compete, the best in bold."""
    best = max((score for score in scores if score is not None), default=None)
    return [
        Cell("") if score is None else Cell(decimals(score, digits), score == best)
        for score in scores
    ]


def length_table(caption: str, corner: str, results: Results, beside: Results | None) -> Table:
    """How long documents are, and how long the paper's are where it has the same problem."""
    others = {problem.name: problem.lengths for problem in beside.problems} if beside else {}
    names = ("shortest", "mean", "longest")
    rows = []
    for problem in results.problems:
        if problem.lengths is None:
            continue
        found = [problem.lengths] + ([others.get(problem.name)] if beside else [])
        cells = (
            [Cell(""), Cell(""), Cell("")]
            if lengths is None
            else [
                Cell(f"{lengths.shortest:,}"),
                Cell(f"{lengths.mean:,.1f}"),
                Cell(f"{lengths.longest:,}"),
            ]
            for lengths in found
        )
        rows.append((Cell(problem.name), *(cell for group in cells for cell in group)))
    header = (corner, *names, *((f"published {name}" for name in names) if beside else ()))
    return Table(caption, header, tuple(rows))


def finding_table(caption: str, results: Results, beside: Results | None) -> Table:
    """On how many problems each of the paper's findings held, here and there."""
    here = findings(results.problems)
    there = findings(beside.problems) if beside else []
    rows = []
    for place, finding in enumerate(here):
        cells = [Cell(finding.claim), count_cell(finding.counted)]
        if beside:
            count = there[place].counted
            if beside.experiment == "reviews" and finding.claim.startswith("idf beats"):
                count = Count(IDF_AHEAD, IDF_AHEAD)
            cells.append(count_cell(count))
        rows.append((*cells, Cell(finding.note)))
    paper = ("in the paper",) if beside else ()
    return Table(caption, ("finding", "held here on", *paper, "note"), tuple(rows), prose=True)


def count_cell(count: Count) -> Cell:
    """How often something held, with a bar; a dash where nothing could tell."""
    if count.problems == 0:
        return Cell("–")
    return Cell(str(count), share=count.held / count.problems)


def fact_table(caption: str, facts: Mapping[str, Any]) -> Table:
    """Names and values."""
    rows = ((Cell(name.replace("_", " ")), Cell(shown(value))) for name, value in facts.items())
    return Table(caption, ("", ""), tuple(rows), prose=True)


def detail_table(caption: str, corner: str, problems: Sequence[Problem]) -> Table:
    """Numbers of documents and pairs, and the seconds each step took."""
    names = list(dict.fromkeys(name for problem in problems for name in problem.details))
    rows = (
        (Cell(problem.name), *(Cell(shown(problem.details.get(name, ""))) for name in names))
        for problem in problems
    )
    header = (corner, *(name.replace("_", " ") for name in names))
    return Table(caption, header, tuple(rows))


def shown(value: Any) -> str:
    """A value of any kind as words."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(shown(part) for part in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return str(value)
