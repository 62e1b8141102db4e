"""Reports: what an experiment found, beside what the paper did, as a page and as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from deltavec.lab.report.figures import (
    are_numbered,
    scores_against_k,
    scores_by_method,
    weight_functions,
    weight_histograms,
)
from deltavec.lab.report.pages import (
    Beside,
    Block,
    Report,
    Section,
    as_file,
    as_html,
    as_markdown,
)
from deltavec.lab.report.published_tables import LEE, published
from deltavec.lab.report.tables import (
    Table,
    decimals,
    detail_table,
    fact_table,
    finding_table,
    length_table,
    method_table,
    of_paper,
    problem_table,
    time_table,
)
from deltavec.lab.results import Problem, Results, write_whole


class Wording(NamedTuple):
    """What an experiment's report calls things.

    Attributes
    ----------
    title : str
        Its heading.
    table : str
        The paper's name of the table.
    row : str
        What sets one problem apart.
    digits : int
        With how many the paper prints a score.
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
        "centre and component from",
        3,
    ),
}


READING = (
    "Removal is that of the common component (-pca). Unless a weight is named, methods are those "
    "with idf. A problem on which two methods tie does not count as held."
)


def write_report(results: Results, folder: Path) -> None:
    """Write ``report.html``, ``report.md`` and its figures to a folder that is there.

    Each file is written under another name first and then renamed, so that a report is never
    half of one.
    """
    report = as_report(results)
    write_whole(folder / "report.html", as_html(report))
    for figure in report.figures:
        write_whole(folder / f"{figure.name}.svg", as_file(figure))
    write_whole(folder / "report.md", as_markdown(report))


def as_report(results: Results) -> Report:
    """The sections that these results have something for."""
    wording = WORDINGS.get(results.experiment, Wording(results.experiment, "Scores", "problem", 3))
    beside = published(results.experiment)
    sections = [
        Section("Scores", score_blocks(results)),
        Section("Which findings hold here", finding_blocks(results, beside)),
        Section("Tables", table_blocks(results, beside, wording)),
        Section("Weights", weight_blocks(results)),
        Section("How this was made", origin_blocks(results, wording)),
    ]
    return Report(
        f"{title(results, wording)}: {results.measure}",
        warning(results),
        lead(results),
        tuple(section for section in sections if section.blocks),
    )


def title(results: Results, wording: Wording) -> str:
    """What the report is about; texts are grouped by any column."""
    column = results.settings.get("group_column")
    return f"Texts of the same {column}" if column else wording.title


def warning(results: Results) -> str:
    """That the results are unfinished, if they are."""
    if results.complete:
        return ""
    done = len(results.problems)
    return (
        f"Unfinished: the run was stopped after {done} problem{'' if done == 1 else 's'}. "
        "Run the same command again to go on where it stopped."
    )


def lead(results: Results) -> str:
    """The results in two sentences."""
    scored = [problem for problem in results.problems if problem.scores]
    if not scored:
        return "No problem is finished yet."
    best = [max(problem.scores, key=lambda name: problem.scores[name]) for problem in scored]
    ranked = sorted(set(best), key=lambda method: -best.count(method))
    counts = [f"{method} on {best.count(method)}" for method in ranked[:3]]
    more = f" and others on {len(best) - sum(map(best.count, ranked[:3]))}" if ranked[3:] else ""
    methods = f"{len(results.methods)} methods"
    if len(scored) == 1:
        return f"1 problem, {methods}. The best: {best[0]}."
    return f"{len(scored)} problems, {methods}. The best: {', '.join(counts)}{more}."


def score_blocks(results: Results) -> tuple[Block, ...]:
    """The figure of all scores; where a problem is no point on a line, with the numbers beside."""
    if not any(problem.scores for problem in results.problems):
        return ()
    if are_numbered(results.problems):
        return (scores_against_k(results), every_method(results))
    references = LEE if results.experiment == "lee" else {}
    named = {f"published: {name}": value for name, value in references.items()}
    return (Beside((scores_by_method(results, named), every_method(results))),)


def every_method(results: Results) -> Table:
    """All methods, with the problems across."""
    caption = "Every method; the best of each column in bold"
    return method_table(caption, results.problems, results.methods, 3)


def finding_blocks(results: Results, beside: Results | None) -> tuple[Block, ...]:
    """What the paper found, counted here."""
    if not any(problem.scores for problem in results.problems):
        return ()
    return (
        READING,
        finding_table("The paper's findings, by the number of problems", results, beside),
    )


def table_blocks(results: Results, beside: Results | None, wording: Wording) -> tuple[Block, ...]:
    """The paper's tables with the published ones beside them."""
    tables: list[Table] = []
    columns = of_paper(results.methods)
    name, row, digits = wording.table, wording.row, wording.digits
    if columns:
        tables.append(problem_table(f"{name}, here", row, results.problems, columns, digits))
        if beside:
            rows, there = comparable(results, beside), of_paper(beside.methods)
            tables.append(problem_table(f"{name}, published", row, rows, there, digits))
        if results.experiment == "lee":
            figures = {name: decimals(value, 3) for name, value in LEE.items()}
            tables.append(fact_table("Published", figures))
    if any(problem.lengths for problem in results.problems):
        paper = beside if results.experiment == "reviews" else None
        caption = "Table 3. Words in a document" if paper else "Words in a document"
        tables.append(length_table(caption, row, results, paper))
    return (Beside(tuple(tables)),) if tables else ()


def comparable(results: Results, published: Results) -> list[Problem]:
    """The paper's problems of the same name; if it has none, the mean of all of them."""
    names = {problem.name for problem in results.problems}
    same = [problem for problem in published.problems if problem.name in names]
    if same:
        return same
    scores = {
        method: sum(problem.scores[method] for problem in published.problems)
        / len(published.problems)
        for method in published.methods
    }
    return [Problem(f"mean of the paper's {len(published.problems)}", scores)]


def weight_blocks(results: Results) -> tuple[Block, ...]:
    """The paper's Figures 1 and 2."""
    figures = [weight_histograms(results.measure, results.problems)]
    if results.curve and any(share > 0 for share in results.curve.term_frequencies):
        figures.insert(0, weight_functions(results.curve))
    there = tuple(figure for figure in figures if figure)
    return (Beside(there),) if there else ()


def origin_blocks(results: Results, wording: Wording) -> tuple[Block, ...]:
    """Data, settings, versions and times: what it takes to run the same again."""
    data = {name: value for name, value in results.data.items() if name != "preparation_seconds"}
    tables: list[Table] = [
        fact_table(caption, facts)
        for caption, facts in (
            ("Data", data),
            ("Settings", results.settings),
            ("Versions", results.versions),
        )
        if facts
    ]
    if results.seconds:
        tables.append(time_table("Where the time went", results.seconds))
    detailed: Sequence[Problem] = [problem for problem in results.problems if problem.details]
    if detailed:
        tables.append(detail_table("Problems", wording.row, detailed))
    return (Beside(tuple(tables)),) if tables else ()
