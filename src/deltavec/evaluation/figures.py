"""The figures of a report: scores by problem, and the paper's two about weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from deltavec.core.recipes import RECIPES
from deltavec.evaluation import plots
from deltavec.evaluation.findings import weight_differences
from deltavec.evaluation.plots import Axis, Figure, Panel, number
from deltavec.evaluation.results import Problem, Results, WeightCurve

WIDTH, HEIGHT = 500, 330
LEFT, TOP, BOTTOM = 44, 30, 40
LABEL_GAP = 14.5
WEIGHTS = {"idf": "c0", "sif": "c1", "subsampling": "c2"}
COLOURS = 7  # c0 to c6 in report.css
MOST_NAMED = 3  # problems that a strip tells apart by colour
BINS = 24


class Series(NamedTuple):
    """The scores of one method, by the size of the problem."""

    method: str
    points: tuple[tuple[float, float], ...]
    kind: str


def score_figure(results: Results) -> Figure | None:
    """Scores against k where problems are numbers, else a strip for each method."""
    if not any(problem.scores for problem in results.problems):
        return None
    sizes = {size for problem in results.problems if (size := numeric(problem.name)) is not None}
    if len(sizes) == len(results.problems) > 1:
        return scores_against_size(results)
    return scores_by_method(results)


def numeric(name: str) -> float | None:
    """The number that a problem is named by, if it is one."""
    try:
        value = float(name)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def scores_against_size(results: Results) -> Figure:
    """One panel for each form and one for the rest; all other methods stay in sight, in grey."""
    methods = results.methods
    every = [series(results.problems, method, colour_of(method, 0)) for method in methods]
    variants = [method for method in methods if method in RECIPES and method != "unit-sum"]
    panels = [
        lines_panel(
            form, [one for one in every if one.method in variants and form in one.method], every
        )
        for form in ("sum", "center", "delta")
    ]
    others = [method for method in methods if method not in variants]
    best = leader(results.problems, variants)
    shown = ([best] if best else []) + others
    rest = [
        series(results.problems, method, colour_of(method, place))
        for place, method in enumerate(shown)
    ]
    panels.append(lines_panel("the best variant and the other methods", rest, every))
    return Figure(
        "scores",
        f"{results.measure} against k, the number of reviews in a document",
        "Solid lines: with the common component removed; dashed: without. Grey: all other methods. "
        "The scale widens towards 1, so that the upper end can be read.",
        tuple(panel for panel in panels if panel is not None),
    )


def leader(problems: Sequence[Problem], methods: Sequence[str]) -> str | None:
    """The method that is best on most problems."""
    wins: dict[str, int] = {}
    for problem in problems:
        scores = {method: problem.scores[method] for method in methods if method in problem.scores}
        if scores:
            best = max(scores, key=lambda method: scores[method])
            wins[best] = wins.get(best, 0) + 1
    return max(wins, key=lambda method: wins[method]) if wins else None


def colour_of(method: str, place: int) -> str:
    """The classes of a method's line: colour by weight, dashes where nothing is removed."""
    weight = method.split("-")[0]
    if method in RECIPES and weight in WEIGHTS:
        return WEIGHTS[weight] + ("" if method.endswith("-pca") else " dashed")
    return f"c{place % COLOURS}"


def series(problems: Sequence[Problem], method: str, kind: str) -> Series:
    """A method's scores in the order of the problems' sizes."""
    points = sorted(
        (float(problem.name), problem.scores[method])
        for problem in problems
        if method in problem.scores
    )
    return Series(method, tuple(points), kind)


def lines_panel(title: str, shown: Sequence[Series], every: Sequence[Series]) -> Panel | None:
    """Labelled lines over the grey ones of all methods; None without a line to show."""
    if not shown:
        return None
    sizes = sorted({size for one in every for size, _ in one.points})
    scores = [score for one in every for _, score in one.points]
    ticks = plots.nines_around(min(scores), max(scores))
    right = WIDTH - plots.LETTER * max(len(one.method) for one in shown) - 26
    across = Axis(sizes[0], sizes[-1], LEFT + 6, right)
    up = Axis(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP + 8, plots.nines)
    marks = [
        plots.text(LEFT, 16, title, "title"),
        plots.rules_across(up, ticks, LEFT, right + 4),
        plots.names_below(across, few(sizes), HEIGHT - BOTTOM + 18),
        plots.text((LEFT + right) / 2, HEIGHT - 5, "k", "tick", "middle"),
    ]
    marks += [plots.path(placed(one, across, up), "context") for one in every]
    wanted = [up.at(one.points[-1][1]) for one in shown]
    labels = plots.spread(wanted, LABEL_GAP, TOP, HEIGHT - BOTTOM)
    for one, y in zip(shown, labels, strict=True):
        points = placed(one, across, up)
        marks.append(plots.path(points, f"line {one.kind}"))
        marks.append(plots.path([points[-1], (right + 8, y), (right + 16, y)], f"lead {one.kind}"))
        marks.append(plots.text(right + 20, y + 4, one.method, f"label {one.kind}"))
        marks += [
            plots.dot(place, 2.2, one.kind, f"{one.method}, k = {size:g}: {score:.4f}")
            for place, (size, score) in zip(points, one.points, strict=True)
        ]
    return Panel(f"{title}: scores against k", WIDTH, HEIGHT, "".join(marks))


def placed(one: Series, across: Axis, up: Axis) -> list[plots.Point]:
    """Where a line goes."""
    return [(across.at(size), up.at(score)) for size, score in one.points]


def few(sizes: Sequence[float], most: int = 10) -> list[float]:
    """The sizes to name under a plane: all, or the first and every so manieth."""
    if len(sizes) <= most:
        return list(sizes)
    step = math.ceil(len(sizes) / 5)
    return [sizes[0], *(size for place, size in enumerate(sizes, 1) if place % step == 0)]


def scores_by_method(results: Results, marks_at: Mapping[str, float] | None = None) -> Figure:
    """A strip for each method, the best mean first; one dot for each problem."""
    problems = [problem for problem in results.problems if problem.scores]
    means = {
        method: sum(found) / len(found)
        for method in results.methods
        if (found := [p.scores[method] for p in problems if method in p.scores])
    }
    ordered = sorted(means, key=lambda method: -means[method])
    references = marks_at or {}
    scores = [score for problem in problems for score in problem.scores.values()]
    low, high = min([*scores, *references.values()]), max([*scores, *references.values()])
    is_auc = results.measure == "ROC AUC"
    ticks = plots.nines_around(low, high) if is_auc else plots.round_steps(low, high)
    named = len(problems) <= MOST_NAMED
    left = 12 + plots.LETTER * max(map(len, ordered))
    top = 44 if named else 26
    top += 16 * len(references)
    row = 18
    bottom = top + row * len(ordered)
    across = Axis(
        ticks[0], ticks[-1], left + 8, WIDTH - 52, plots.nines if is_auc else plots.identity
    )
    marks = [
        plots.line((across.at(tick), top - 6), (across.at(tick), bottom), "rule")
        for tick in ticks
    ]
    marks.append(plots.names_below(across, ticks, bottom + 16))
    marks.append(plots.text(WIDTH - 4, top - 10, "mean", "tick", "end"))
    if named:
        marks.append(legend([p.name for p in problems], left + 8, 14))
    marks.append(reference_lines(references, across, top, bottom, 32 if named else 14))
    for place, method in enumerate(ordered):
        y = top + row * (place + 0.5)
        found = [(p.name, p.scores[method]) for p in problems if method in p.scores]
        ends = [across.at(min(s for _, s in found)), across.at(max(s for _, s in found))]
        marks.append(plots.text(left - 2, y + 4, method, "label", "end"))
        marks.append(plots.line((ends[0], y), (ends[1], y), "span"))
        marks += [
            plots.dot((across.at(score), y), 4, dot_kind(problems, name, named), f"{name}: {score:.4f}")
            for name, score in found
        ]
        if not named:
            marks.append(plots.line((across.at(means[method]), y - 7), (across.at(means[method]), y + 7), "mean"))
        marks.append(plots.text(WIDTH - 4, y + 4, f"{means[method]:.3f}".lstrip("0"), "label", "end"))
    what = "problem" if len(problems) > 1 else "score"
    return Figure(
        "scores",
        f"{results.measure} of every method",
        f"One dot for each {what}"
        + ("." if named else ", a stroke at their mean.")
        + (" The scale widens towards 1." if is_auc else ""),
        (Panel(f"{results.measure} of every method", WIDTH, bottom + 24, "".join(marks)),),
    )
