"""The figures of a report: scores by method and by k, and the paper's two about weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from deltavec.core.recipes import RECIPES, Recipe
from deltavec.lab.report.findings import weight_differences
from deltavec.lab.report.plots import (
    COLOURS,
    Figure,
    Named,
    Panel,
    apart,
    colour,
    name_ends,
    nines,
    number,
    panel,
    shares_around,
    shortened,
)
from deltavec.lab.results import Problem, Results, WeightCurve

WIDTH, HEIGHT = 500, 320
PLANE_HEIGHT = 240  # about what is left of it for marks
ROW = 19  # of a strip
MOST_NAMED = 4  # problems that are told apart by colour
BINS = 20
WEIGHTS = ("idf", "sif", "subsampling")
FORM_COLOURS = {"sum": "green", "center": "orange", "delta": "blue"}
OTHER_COLOURS = ("purple", "gold", "cyan", "slate", "orange", "green")


class Series(NamedTuple):
    """The scores of one method, by k."""

    method: str
    ks: tuple[float, ...]
    scores: tuple[float, ...]
    colour: str
    dashed: bool = False


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
    every = [series(results.problems, method) for method in results.methods]
    variants = [one for one in every if is_variant(one.method)]
    others = [one for one in every if not is_variant(one.method)]
    panels = [
        (weight, [one for one in variants if one.method.startswith(f"{weight}-")])
        for weight in WEIGHTS
    ]
    if others:
        best = leader(results.problems, [one.method for one in variants])
        coloured = [
            one._replace(colour=OTHER_COLOURS[place % len(OTHER_COLOURS)])
            for place, one in enumerate(others)
        ]
        shown = [one for one in variants if one.method == best] + coloured
        panels.append(("the best variant and the other methods", shown))
    return Figure(
        "scores",
        f"{results.measure} against k, the number of texts in a document",
        "Solid lines: with the common component removed; dashed: without. Grey: all other "
        "methods. The scale widens towards 1, so that its upper end can be read.",
        tuple(lines_panel(title, shown, every) for title, shown in panels if shown),
    )


def series(problems: Sequence[Problem], method: str) -> Series:
    """A method's scores in the order of k; its colour is its form's, dashed without removal."""
    points = sorted(
        (float(problem.name), problem.scores[method])
        for problem in problems
        if method in problem.scores
    )
    ks, scores = zip(*points, strict=True)
    if not is_variant(method):
        return Series(method, ks, scores, OTHER_COLOURS[0])
    recipe = Recipe.named(method)
    return Series(method, ks, scores, FORM_COLOURS[recipe.form], not recipe.n_components_removed)


def is_variant(method: str) -> bool:
    """Whether a method is one of the paper's 18."""
    return method in RECIPES and method.split("-")[0] in WEIGHTS


def leader(problems: Sequence[Problem], methods: Sequence[str]) -> str | None:
    """The method that is the best one on most problems."""
    best = [
        max(there, key=lambda method: problem.scores[method])
        for problem in problems
        if (there := [name for name in methods if name in problem.scores])
    ]
    return max(best, key=best.count) if best else None


def lines_panel(title: str, shown: Sequence[Series], every: Sequence[Series]) -> Panel:
    """Some lines with labels, over the grey ones of every method."""
    scores = [score for one in every for score in one.scores]
    shares = shares_around(min(scores), max(scores))

    def draw(axes: Any) -> None:
        axes.set_title(title)
        axes.set_xlabel("k")
        axes.grid(visible=False, axis="x")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_ylim(nines(shares[0]), nines(shares[-1]))
        named = apart(shares, PLANE_HEIGHT)
        axes.set_yticks([nines(share) for share in named], [number(share) for share in named])
        for one in every:
            axes.plot(one.ks, [*map(nines, one.scores)], color=colour("context"), linewidth=0.8)
        ends = []
        for one in shown:
            heights = [*map(nines, one.scores)]
            style, ink = "--" if one.dashed else "-", colour(one.colour)
            axes.plot(one.ks, heights, style, color=ink, linewidth=1.8)
            if len(one.ks) == 1:
                axes.plot(one.ks, heights, "o", color=ink, markersize=4)
            ends.append(Named(one.method, one.ks[-1], heights[-1], ink))
        name_ends(axes, ends, PLANE_HEIGHT)

    return panel(f"{title}: scores against k", WIDTH, HEIGHT, draw)


def scores_by_method(results: Results, references: Mapping[str, float]) -> Figure:
    """A strip for each method with a dot for each problem, and lines at published figures."""
    problems = [problem for problem in results.problems if problem.scores]
    is_share = results.measure == "ROC AUC"
    dots = "One dot for each problem."
    if len(problems) > MOST_NAMED:
        dots = "One dot for each problem; the stroke is their mean."
    return Figure(
        "scores",
        f"{results.measure} of every method",
        dots + (" The scale widens towards 1." if is_share else ""),
        (strips_panel(results, problems, references, is_share),),
    )


def strips_panel(
    results: Results, problems: Sequence[Problem], references: Mapping[str, float], is_share: bool
) -> Panel:
    """The strips of all methods over one axis, the best first."""
    means = {method: mean_score(problems, method) for method in results.methods}
    ordered = sorted(means, key=lambda method: means[method])
    scale = nines if is_share else float
    few = len(problems) <= MOST_NAMED
    scores = [score for problem in problems for score in problem.scores.values()]

    def draw(axes: Any) -> None:
        if is_share:
            shares = shares_around(min(scores), max(scores))
            named = apart(shares, PLANE_HEIGHT)
            axes.set_xticks([nines(share) for share in named], [number(share) for share in named])
        axes.grid(visible=False, axis="y")
        axes.set_yticks(range(len(ordered)), [shortened(name) for name in ordered])
        axes.tick_params("y", labelcolor=colour("ink"))
        axes.set_ylim(-0.7, len(ordered) - 0.3)
        for row, method in enumerate(ordered):
            found = [scale(p.scores[method]) for p in problems if method in p.scores]
            axes.plot([min(found), max(found)], [row, row], color=colour("context"), linewidth=1.5)
            mean = f"{means[method]:.3f}".replace("0.", ".", 1)
            axes.text(1.02, row, mean, transform=axes.get_yaxis_transform(), va="center")
        for place, problem in enumerate(problems):
            rows = [row for row, method in enumerate(ordered) if method in problem.scores]
            axes.plot(
                [scale(problem.scores[ordered[row]]) for row in rows],
                rows,
                "o",
                color=colour(COLOURS[place] if few else "blue"),
                alpha=1 if few else 0.45,
                # Smaller ones come later, so that equal scores all show.
                markersize=8 - 1.8 * place if few else 6,
                label=shortened(problem.name),
            )
        if not few:
            middles = [scale(means[method]) for method in ordered]
            axes.plot(middles, range(len(ordered)), "|", color=colour("ink"), markersize=12)
        for name, value in references.items():
            label = f"{name} {number(value).ljust(3, '0')}"
            axes.axvline(scale(value), linestyle=":", color=colour("soft"), label=label)
        if references or 1 < len(problems) <= MOST_NAMED:
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1), frameon=False, fontsize=11)

    title = f"{results.measure} of every method"
    named = len(references) + (len(problems) if few else 0)
    return panel(title, 560, 60 + ROW * (len(ordered) + named), draw)


def mean_score(problems: Sequence[Problem], method: str) -> float:
    """The mean of a method's scores."""
    scores = [problem.scores[method] for problem in problems if method in problem.scores]
    return sum(scores) / len(scores)


def weight_functions(curve: WeightCurve) -> Figure:
    """Figure 1: the three weights against the share of the corpus."""

    def draw(axes: Any) -> None:
        axes.set_xscale("log")
        axes.set_xlabel("share of the corpus, tf_ic")
        axes.xaxis.set_major_formatter(lambda share, _: power_of_ten(share))
        axes.grid(visible=False, axis="x")
        # From the rarest word on, whatever the order; a share of nothing has no place here.
        order = sorted(
            (share, place) for place, share in enumerate(curve.term_frequencies) if share > 0
        )
        shares = [share for share, _ in order]
        values = scaled(curve.idf), curve.sif, curve.subsampling
        idf, sif, subsampling = ([column[place] for _, place in order] for column in values)
        blue, orange, green = map(colour, ("blue", "orange", "green"))
        axes.plot(shares, idf, "o", color=blue, markersize=2.6, alpha=0.5, label="idf, scaled")
        axes.plot(shares, sif, color=orange, linewidth=1.9, label="sif")
        axes.plot(shares, subsampling, color=green, linewidth=1.9, label="subsampling")
        axes.legend(frameon=False, fontsize=11, loc="upper right")

    return Figure(
        "weights",
        "Figure 1. The three weights of a word",
        "Against its share of the corpus, tf_ic. idf is scaled to run from 0 to 1, as in the "
        "paper; it depends on the documents a word is in, so that each word is a dot.",
        (panel("The three weights against tf_ic", WIDTH, HEIGHT, draw),),
    )


def power_of_ten(value: float) -> str:
    """A decade for an axis: 10⁻⁴."""
    power = str(round(math.log10(value)))
    return "10" + power.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def scaled(values: Sequence[float]) -> list[float]:
    """The values moved and stretched to run from 0 to 1 (Schmidt, section 3)."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]


def weight_histograms(measure: str, problems: Sequence[Problem]) -> Figure | None:
    """Figure 2: how far idf is ahead of each other weight; None without pairs to compare."""
    gaps = {other: weight_differences(problems, other) for other in ("sif", "subsampling")}
    panels = tuple(histogram_panel(other, found) for other, found in gaps.items() if found)
    if not panels:
        return None
    return Figure(
        "differences",
        "Figure 2. How far idf is ahead of the other weights",
        f"Differences in {measure}, one for each form, with and without removal, and problem. "
        "Right of the line idf is better.",
        panels,
    )


def histogram_panel(other: str, gaps: Sequence[float]) -> Panel:
    """How often each difference occurs; no bar reaches across nothing."""
    ahead = f"idf ahead on {sum(gap > 0 for gap in gaps)} of {len(gaps)}"
    widest = max(abs(gap) for gap in gaps) or 0.01
    borders = [widest * place / (BINS // 2) for place in range(-BINS // 2, BINS // 2 + 1)]

    def draw(axes: Any) -> None:
        axes.set_title(f"idf − {other}")
        axes.set_title(ahead, loc="right", fontsize=11)
        axes.set_xlabel("difference")
        axes.grid(visible=False, axis="x")
        axes.yaxis.get_major_locator().set_params(integer=True)
        _, _, bars = axes.hist(gaps, borders, rwidth=0.92)
        for bar, begin in zip(bars, borders, strict=False):
            bar.set_color(colour("blue" if begin > -1e-12 else "orange"))
        axes.axvline(0, color=colour("ink"), linewidth=1.2)

    title = f"Histogram of idf minus {other}: {ahead}"
    return panel(title, WIDTH, HEIGHT, draw)
