"""The figures of a report: scores by k, and the paper's Figures 1 and 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deltavec.core.recipes import RECIPES, Recipe
from deltavec.lab.report.drawing import Figure, finish, new_canvas, power_of_ten, scale_areas
from deltavec.lab.report.findings import weight_differences
from deltavec.lab.results import Problem, Results, WeightCurve

BINS = 20
WEIGHTS = ("idf", "sif", "subsampling")
FORM_COLORS = {"sum": "C2", "center": "C1", "delta": "C0"}


def are_numbered(problems: Sequence[Problem]) -> bool:
    """Whether there are several problems, each named by a whole number of its own."""
    numbers = {problem.name for problem in problems if problem.name.isdecimal()}
    return len(numbers) == len(problems) > 1


def scores_against_k(results: Results) -> Figure:
    """One panel for each weight, and one for all other methods."""
    panels: dict[str, list[str]] = {weight: [] for weight in (*WEIGHTS, "other methods")}
    for method in results.methods:
        weight = method.split("-")[0] if method in RECIPES else ""
        panels[weight if weight in WEIGHTS else "other methods"].append(method)
    shown = {title: methods for title, methods in panels.items() if methods}
    canvas, axes = new_canvas(len(shown))
    for panel, (title, methods) in zip(axes, shown.items(), strict=True):
        draw_lines(panel, title, methods, results)
    return finish(
        canvas,
        "scores",
        f"{results.measure} against k, the number of texts in a document",
        "Solid lines: with the common component removed; dashed: without. Gray: the other panels. "
        "The scale widens toward 1.",
    )


def draw_lines(axes: Any, title: str, methods: Sequence[str], results: Results) -> None:
    """Draw the scores of some methods by k, over the gray lines of all methods."""
    lines = {
        method: sorted(
            (float(p.name), p.scores[method]) for p in results.problems if method in p.scores
        )
        for method in results.methods
    }
    scores = [score for points in lines.values() for _, score in points]
    scale_areas(axes, min(scores), max(scores))
    axes.set(title=title, xlabel="k")
    axes.xaxis.get_major_locator().set_params(integer=True)
    for points in lines.values():
        axes.plot(*zip(*points, strict=True), color="lightgray", linewidth=0.8)
    for rank, method in enumerate(methods):
        look = {"color": f"C{rank}", "linestyle": "-"}
        if title in WEIGHTS:
            recipe = Recipe.named(method)
            removed = bool(recipe.n_components_removed)
            look = {"color": FORM_COLORS[recipe.form], "linestyle": "-" if removed else "--"}
        axes.plot(*zip(*lines[method], strict=True), marker=".", label=method, **look)
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


def weight_functions(curve: WeightCurve) -> Figure:
    """Figure 1: the three weights against the term frequency in the corpus."""
    canvas, (axes,) = new_canvas(1)
    axes.set(xscale="log", xlabel="share of the corpus, tf_ic")
    axes.xaxis.set_major_formatter(lambda share, _: power_of_ten(share))
    columns = zip(
        curve.term_frequencies, rescale(curve.idf), curve.sif, curve.subsampling, strict=True
    )
    shares, idf, sif, subsampling = zip(*sorted(columns), strict=True)
    axes.plot(shares, idf, "o", color="C0", markersize=2.6, alpha=0.5, label="idf, scaled")
    axes.plot(shares, sif, color="C1", label="sif")
    axes.plot(shares, subsampling, color="C2", label="subsampling")
    axes.legend(loc="upper right")
    return finish(
        canvas,
        "weights",
        "Figure 1. The three weights of a word",
        "Against its share of the corpus, tf_ic. idf is scaled to run from 0 to 1, as in the "
        "paper. It depends on the document frequency, so each word is a dot.",
    )


def rescale(values: Sequence[float]) -> list[float]:
    """The values moved and stretched to run from 0 to 1 (Schmidt, section 3)."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]


def weight_histograms(measure: str, problems: Sequence[Problem]) -> Figure | None:
    """Figure 2: how far idf is ahead of each other weight; None without pairs to compare."""
    found = {other: weight_differences(problems, other) for other in ("sif", "subsampling")}
    shown = {other: gaps for other, gaps in found.items() if gaps}
    if not shown:
        return None
    canvas, panels = new_canvas(len(shown))
    for axes, (other, gaps) in zip(panels, shown.items(), strict=True):
        widest = max(abs(gap) for gap in gaps) or 0.01
        borders = [widest * step / (BINS // 2) for step in range(-BINS // 2, BINS // 2 + 1)]
        axes.set(title=f"idf − {other}", xlabel="difference")
        ahead = f"idf ahead on {sum(gap > 0 for gap in gaps)} of {len(gaps)}"
        axes.set_title(ahead, loc="right", fontsize=11)
        axes.yaxis.get_major_locator().set_params(integer=True)
        for bar, border in zip(axes.hist(gaps, borders, rwidth=0.92)[2], borders, strict=False):
            bar.set_color("C0" if border > -1e-12 else "C1")
        axes.axvline(0, color="black", linewidth=1.2)
    return finish(
        canvas,
        "differences",
        "Figure 2. How far idf is ahead of the other weights",
        f"Differences in {measure}, one for each form, with and without removal, and problem. "
        "Right of the line idf is better.",
    )
