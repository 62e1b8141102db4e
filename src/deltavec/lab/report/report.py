"""The report of an experiment: its results beside those of the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from deltavec.lab.report.figures import (
    are_numbered,
    drawing_style,
    scores_against_k,
    weight_functions,
    weight_histograms,
)
from deltavec.lab.report.pages import Block, Report, Section, write_pages
from deltavec.lab.report.tables import (
    LEE,
    Table,
    decimals,
    fact_table,
    finding_table,
    length_table,
    method_table,
    paper_columns,
    problem_table,
    published,
)
from deltavec.lab.results import Problem, Results


class Wording(NamedTuple):
    """The words of an experiment's report.

    Attributes
    ----------
    title : str
        Its heading.
    table : str
        The paper's name of the table.
    row : str
        What the rows of the table are.
    digits : int
        The digits of a score in the paper.
    """

    title: str
    table: str
    row: str
    digits: int


WORDINGS = {
    "reviews": Wording("Reviews of the same place", "Table 1", "k", 4),
    "duplicate-questions": Wording("Duplicate questions", "Table 2", "forum", 3),
    "lee": Wording(
        "Lee's news stories: agreement with people",
        "The paper's methods",
        "center and component from",
        3,
    ),
}
READING = (
    "Removal is that of the common component (-pca). Unless a weight is named, methods are those "
    "with idf. A tie of two methods does not count as held."
)


def write_report(results: Results, folder: Path) -> None:
    """Write ``report.html``, ``report.md`` and its figures to an existing folder."""
    write_pages(as_report(results), folder)


def as_report(results: Results) -> Report:
    """The report of some results; sections without content are left out."""
    wording = WORDINGS.get(results.experiment, Wording(results.experiment, "Scores", "problem", 3))
    column = results.settings.get("group_column")
    title = f"Texts of the same {column}" if column else wording.title
    scored = [problem for problem in results.problems if problem.scores]
    paper = published(results.experiment)
    sections = [Section("How this was made", origin_tables(results))]
    with drawing_style():
        sections.insert(0, Section("Weights", weight_figures(results)))
        sections.insert(0, Section("Tables", paper_tables(results, paper, wording)))
        if scored:
            caption = "The paper's findings, by the number of problems"
            found = finding_table(caption, results, paper)
            sections.insert(0, Section("Which findings hold here", (READING, found)))
            sections.insert(0, Section("Scores", score_blocks(results)))
    warning = "Unfinished: the run was stopped. Run the same command again to resume."
    return Report(
        f"{title}: {results.measure}",
        "" if results.complete else warning,
        summarize(scored, len(results.methods)),
        tuple(section for section in sections if section.blocks),
    )


def summarize(problems: Sequence[Problem], methods: int) -> str:
    """The best methods in two sentences."""
    if not problems:
        return "No problem is finished yet."
    best = Counter(max(problem.scores, key=problem.scores.__getitem__) for problem in problems)
    counts = ", ".join(f"{method} on {count}" for method, count in best.most_common(3))
    return f"Problems: {len(problems)}. Methods: {methods}. The best: {counts}."


def score_blocks(results: Results) -> tuple[Block, ...]:
    """The table of every method, after a figure if the problems are numbered by k."""
    caption = "Every method; the best of each column in bold"
    table = method_table(caption, results.problems, results.methods, 3)
    return (scores_against_k(results), table) if are_numbered(results.problems) else (table,)


def paper_tables(results: Results, paper: Results | None, wording: Wording) -> tuple[Table, ...]:
    """The paper's tables, ours and the published ones."""
    tables: list[Table] = []
    columns = paper_columns(results.methods)
    name, row, digits = wording.table, wording.row, wording.digits
    if columns:
        tables.append(problem_table(f"{name}, here", row, results.problems, columns, digits))
        if paper:
            names = {problem.name for problem in results.problems}
            same = [problem for problem in paper.problems if problem.name in names]
            there = paper_columns(paper.methods)
            rows = same or paper.problems
            tables.append(problem_table(f"{name}, published", row, rows, there, digits))
        if results.experiment == "lee":
            figures = {name: decimals(value, 3) for name, value in LEE.items()}
            tables.append(fact_table("Published", figures))
    if any(problem.lengths for problem in results.problems):
        beside = paper if results.experiment == "reviews" else None
        caption = "Table 3. Words in a document" if beside else "Words in a document"
        tables.append(length_table(caption, row, results, beside))
    return tuple(tables)


def weight_figures(results: Results) -> tuple[Block, ...]:
    """The paper's Figures 1 and 2."""
    curve = weight_functions(results.curve) if results.curve else None
    gaps = weight_histograms(results.measure, results.problems)
    return tuple(figure for figure in (curve, gaps) if figure)


def origin_tables(results: Results) -> tuple[Table, ...]:
    """Data, settings, versions, times and sizes: what it takes to repeat the run."""
    facts = {"Data": results.data, "Settings": results.settings, "Versions": results.versions}
    facts["Problems"] = {problem.name: problem.details for problem in results.problems}
    return tuple(fact_table(caption, values) for caption, values in facts.items() if values)
