"""The tables of a report, as data; `pages` renders them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from deltavec.lab.report.findings import VARIANTS, Count, Finding, findings
from deltavec.lab.results import Lengths, Problem, Results

# The columns of the paper's Tables 1 and 2, in its order.
PAPER_COLUMNS = (*(f"idf-{v}" for v in VARIANTS), "unit-sum", "d2v-mc1", "d2v-mc5", "doc2vec")


class Cell(NamedTuple):
    """A cell of a table.

    Attributes
    ----------
    text : str
        Its text.
    best : bool
        Whether it is bold.
    """

    text: str
    best: bool = False


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


def paper_columns(methods: Iterable[str]) -> list[str]:
    """The methods that the paper's tables have, in their order."""
    return [column for column in PAPER_COLUMNS if column in set(methods)]


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
    """Scores, the best in bold."""
    best = max((score for score in scores if score is not None), default=None)
    return [
        Cell("") if score is None else Cell(decimals(score, digits), score == best)
        for score in scores
    ]


def length_table(caption: str, corner: str, results: Results, paper: Results | None) -> Table:
    """The lengths of documents, beside the paper's for the same problem."""
    published = {problem.name: problem.lengths for problem in paper.problems} if paper else {}
    names = ["shortest", "mean", "longest"]
    rows = []
    for problem in results.problems:
        if problem.lengths is None:
            continue
        cells = length_cells(problem.lengths)
        if paper:
            cells += length_cells(published.get(problem.name))
        rows.append((Cell(problem.name), *cells))
    header = (corner, *names, *([f"published {name}" for name in names] if paper else []))
    return Table(caption, header, tuple(rows))


def length_cells(lengths: Lengths | None) -> list[Cell]:
    """The lengths as text; empty if they are unknown."""
    if lengths is None:
        return [Cell("")] * 3
    shown = f"{lengths.shortest:,}", f"{lengths.mean:,.1f}", f"{lengths.longest:,}"
    return [Cell(text) for text in shown]


def finding_table(caption: str, results: Results, beside: Results | None) -> Table:
    """On how many problems each of the paper's findings held, here and in the paper."""
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
    """How often a finding held, or whether it did; a dash without such problems."""
    count = finding.counted
    if count.problems == 0:
        return Cell("–")
    if finding.of_all:
        return Cell("yes" if count.held else "no")
    return Cell(f"on {count}")


def fact_table(caption: str, facts: Mapping[str, Any]) -> Table:
    """Names and values."""
    rows = (
        (Cell(name.replace("_", " ")), Cell(format_value(value))) for name, value in facts.items()
    )
    return Table(caption, ("", ""), tuple(rows), prose=True)


def format_value(value: Any) -> str:
    """A value of any type as text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {format_value(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(format_value(part) for part in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "–"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return str(value)


# Table 2's forums hold 83.4 to 166.5 words a question on average (section 6). The paper does not
# give the others; the upper end is enough to tell that all of them are short.
LONGEST_FORUM_MEAN = 166.5

# Paired problems on which idf was ahead, for either other weight (section 5): the tables
# hold no columns of those.
IDF_AHEAD = 120

# The correlations with human judgement that M. D. Lee, B. Pincombe and M. Welsh (An empirical
# evaluation of models of text document similarity, CogSci 2005) report: the best of the models they
# tried, and one person with another.
LEE = {"LSA": 0.60, "people among themselves": 0.605}


def published(experiment: str) -> Results | None:
    """What the paper found in the same experiment; None if it has no such table."""
    tables = {"reviews": table1, "duplicate-questions": table2}
    if experiment not in tables:
        return None
    return Results(experiment, "ROC AUC", tables[experiment](), {}, {}, versions={})


def table1() -> tuple[Problem, ...]:
    """Tables 1 and 3: documents of k reviews, their scores and lengths."""
    lengths = {
        k: Lengths(int(row["min_words"]), row["mean_words"], int(row["max_words"]))
        for k, row in rows("table3_document_lengths.csv").items()
    }
    scores = rows("table1_tripadvisor_auc.csv")
    return tuple(Problem(k, row, lengths[k]) for k, row in scores.items())


def table2() -> tuple[Problem, ...]:
    """Table 2: one forum a row."""
    bound = Lengths(0, LONGEST_FORUM_MEAN, 0)
    scores = rows("table2_cqadupstack_auc.csv")
    return tuple(Problem(forum, row, bound) for forum, row in scores.items())


def rows(name: str) -> dict[str, dict[str, float]]:
    """The numbers of a file that comes with the package, by the first column of each row."""
    text = (files("deltavec.lab.report") / "published" / name).read_text(encoding="utf-8")
    (_, *columns), *lines = csv.reader(text.splitlines())
    return {row: dict(zip(columns, map(float, numbers), strict=True)) for row, *numbers in lines}
