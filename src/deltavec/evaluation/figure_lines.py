"""The figure of scores against k: labelled lines, and all others in grey behind them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from deltavec.core.recipes import RECIPES, Recipe
from deltavec.evaluation import plots
from deltavec.evaluation.plots import Axis, Figure, Panel
from deltavec.evaluation.results import Problem, Results

WIDTH, HEIGHT = 500, 330
LEFT, TOP, BOTTOM = 40, 30, 40
LABEL_GAP = 14.5
MOST_DOTS = 8
WEIGHTS = ("idf", "sif", "subsampling")
FORM_COLOURS = {"sum": "c2", "center": "c1", "delta": "c0"}
OTHER_COLOURS = ("c3", "c4", "c5", "c6", "c1", "c2")


class Series(NamedTuple):
    """The scores of one method, by k."""

    method: str
    points: tuple[tuple[float, float], ...]
    kind: str


def are_numbered(problems: Sequence[Problem]) -> bool:
    """Whether there are several problems, each named by a number of its own."""
    return len({numeric(problem.name) for problem in problems} - {None}) == len(problems) > 1


def numeric(name: str) -> float | None:
    """The number that a problem is named by, if it is one."""
    try:
        value = float(name)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def scores_against_k(results: Results) -> Figure:
    """One panel for each weight, and one for the best variant and the other methods."""
    every = [series(results.problems, method, colour_of(method)) for method in results.methods]
    variants = [one for one in every if is_variant(one.method)]
    others = [one for one in every if one not in variants]
    panels = [
        (weight, [one for one in variants if one.method.startswith(f"{weight}-")])
        for weight in WEIGHTS
    ]
    if others:
        best = [one for one in variants if one.method == leader(results.problems, variants)]
        coloured = [
            one._replace(kind=OTHER_COLOURS[place % len(OTHER_COLOURS)])
            for place, one in enumerate(others)
        ]
        panels.append(("the best variant and the other methods", best + coloured))
    return Figure(
        "scores",
        f"{results.measure} against k, the number of texts in a document",
        "Solid lines: with the common component removed; dashed: without. Grey: all other "
        "methods. The scale widens towards 1, so that its upper end can be read.",
        tuple(lines_panel(title, shown, every) for title, shown in panels if shown),
    )


def series(problems: Sequence[Problem], method: str, kind: str) -> Series:
    """A method's scores in the order of k."""
    points = sorted(
        (float(problem.name), problem.scores[method])
        for problem in problems
        if method in problem.scores
    )
    return Series(method, tuple(points), kind)


def is_variant(method: str) -> bool:
    """Whether a method is one of the paper's 18."""
    return method in RECIPES and method.split("-")[0] in WEIGHTS


def colour_of(method: str) -> str:
    """The classes of a variant's line: colour by form, dashes where nothing is removed."""
    if not is_variant(method):
        return OTHER_COLOURS[0]
    recipe = Recipe.named(method)
    dashes = "" if recipe.n_components_removed else " dashed"
    return FORM_COLOURS[recipe.form] + dashes


def leader(problems: Sequence[Problem], variants: Sequence[Series]) -> str | None:
    """The variant that is the best one on most problems."""
    names = [one.method for one in variants]
    best = [
        max(found, key=lambda method: problem.scores[method])
        for problem in problems
        if (found := [name for name in names if name in problem.scores])
    ]
    return max(best, key=best.count) if best else None


def lines_panel(title: str, shown: Sequence[Series], every: Sequence[Series]) -> Panel:
    """Some lines with labels, over the grey ones of every method."""
    sizes = sorted({size for one in every for size, _ in one.points})
    scores = [score for one in every for _, score in one.points]
    ticks = plots.nines_around(min(scores), max(scores))
    right = WIDTH - 24 - plots.LETTER * max(len(plots.shortened(one.method)) for one in shown)
    across = Axis(sizes[0], sizes[-1], LEFT + 6, right)
    up = Axis(ticks[0], ticks[-1], HEIGHT - BOTTOM, TOP + 8, plots.nines)
    marks = [
        plots.text(LEFT, 16, title, "title"),
        plots.rules_across(up, ticks, LEFT, right + 4),
        plots.names_below(across, few(sizes), HEIGHT - BOTTOM + 18),
        plots.text((LEFT + right) / 2, HEIGHT - 5, "k", "tick", "middle"),
        *(plots.path(placed(one, across, up), "context") for one in every),
        *(line_marks(one, across, up) for one in shown),
        end_labels(shown, across, up),
    ]
    return Panel(f"{title}: scores against k", WIDTH, HEIGHT, "".join(marks))


def placed(one: Series, across: Axis, up: Axis) -> list[plots.Point]:
    """Where a line goes."""
    return [(across.at(size), up.at(score)) for size, score in one.points]


def line_marks(one: Series, across: Axis, up: Axis) -> str:
    """A line, with a dot for each score that tells it when pointed at.

    Where dots would hide the dashes they show only then.
    """
    points = placed(one, across, up)
    radius, shown = (2.4, "fill") if len(points) <= MOST_DOTS else (4, "fill hidden")
    dots = (
        plots.dot(place, radius, f"{shown} {one.kind}", f"{one.method}, k = {size:g}: {score:.4f}")
        for place, (size, score) in zip(points, one.points, strict=True)
    )
    return plots.path(points, f"line {one.kind}") + "".join(dots)


def end_labels(shown: Sequence[Series], across: Axis, up: Axis) -> str:
    """The names of lines, each led to from the line's end."""
    ends = [placed(one, across, up)[-1] for one in shown]
    heights = plots.spread([y for _, y in ends], LABEL_GAP, TOP, HEIGHT - BOTTOM)
    right = across.end
    return "".join(
        plots.path([end, (right + 10, y), (right + 15, y)], f"lead {one.kind}")
        + plots.text(right + 18, y + 4, plots.shortened(one.method), f"label {one.kind}")
        for one, end, y in zip(shown, ends, heights, strict=True)
    )


def few(sizes: Sequence[float], most: int = 10) -> list[float]:
    """The sizes to name under a plane: all, or the first and some others."""
    if len(sizes) <= most:
        return list(sizes)
    step = math.ceil(len(sizes) / 5)
    return [sizes[0], *(size for place, size in enumerate(sizes, 1) if place % step == 0)]
