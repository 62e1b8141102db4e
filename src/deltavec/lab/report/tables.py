"""The tables of a report, as data: what they say is settled here, how they look elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from deltavec.lab.report.findings import Count, Finding, findings
from deltavec.lab.report.published_tables import IDF_AHEAD
from deltavec.lab.results import Lengths, Problem, Results

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
    rows = ((Cell(method), *cells) for method, *cells in zip(methods, *columns, strict=True))
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
        cells = [Cell(text) for lengths in found for text in length_texts(lengths)]
        rows.append((Cell(problem.name), *cells))
    header = (corner, *names, *((f"published {name}" for name in names) if beside else ()))
    return Table(caption, header, tuple(rows))


def length_texts(lengths: Lengths | None) -> tuple[str, str, str]:
    """The numbers of words as they are read."""
    if lengths is None:
        return "", "", ""
    return f"{lengths.shortest:,}", f"{lengths.mean:,.1f}", f"{lengths.longest:,}"


def finding_table(caption: str, results: Results, beside: Results | None) -> Table:
    """On how many problems each of the paper's findings held, here and there."""
    here = findings(results.problems)
    there = findings(beside.problems) if beside else []
    rows = []
    for place, finding in enumerate(here):
        cells = [Cell(finding.claim), held_cell(finding)]
        if beside:
            published = there[place]
            if beside.experiment == "reviews" and finding.claim.startswith("idf beats"):
                published = finding._replace(counted=Count(IDF_AHEAD, IDF_AHEAD))
            cells.append(held_cell(published))
        rows.append((*cells, Cell(finding.note)))
    paper = ("in the paper",) if beside else ()
    return Table(caption, ("finding", "held here", *paper, "note"), tuple(rows), prose=True)


def held_cell(finding: Finding) -> Cell:
    """How often a finding held, with a bar, or whether it did; a dash where nothing could tell."""
    count = finding.counted
    if count.problems == 0:
        return Cell("–")
    if finding.of_all:
        return Cell("yes" if count.held else "no")
    return Cell(f"on {count}", share=count.held / count.problems)


def fact_table(caption: str, facts: Mapping[str, Any]) -> Table:
    """Names and values."""
    rows = ((Cell(name.replace("_", " ")), Cell(shown(value))) for name, value in facts.items())
    return Table(caption, ("", ""), tuple(rows), prose=True)


def time_table(caption: str, seconds: Mapping[str, float]) -> Table:
    """Where the time went, the longest first; the last row is the sum of the others."""
    ordered = sorted(seconds.items(), key=lambda step: -step[1])
    rows = [*ordered, ("all", sum(seconds.values()))]
    return Table(
        caption,
        ("step", "seconds"),
        tuple((Cell(step), Cell(f"{taken:,.1f}", best=step == "all")) for step, taken in rows),
    )


def detail_table(caption: str, corner: str, problems: Sequence[Problem]) -> Table:
    """Numbers of documents and pairs."""
    every = dict.fromkeys(name for problem in problems for name in problem.details)
    names = [name for name in every if name != "seconds"]  # those have a table of their own
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
