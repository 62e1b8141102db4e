"""The figures of a report: scores by k, and the paper's Figures 1 and 2."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import as_file, files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.core.recipes import RECIPES, Recipe
from deltavec.errors import needing
from deltavec.lab.report.findings import weight_differences
from deltavec.lab.results import Problem, Results, WeightCurve

# Round values of an area under the ROC curve; on `log_distance` the steps look about equal.
TICKS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9999)


class Figure(NamedTuple):
    """A drawing as SVG, its file name without suffix, its title, and how to read it."""

    name: str
    title: str
    caption: str
    svg: str


def require_matplotlib() -> None:
    """Refuse to begin work whose figures could not be drawn."""
    with needing("lab", "the figures of a report need matplotlib"):
        import matplotlib  # noqa: F401


@contextmanager
def drawing_style() -> Iterator[None]:
    """While this lasts, matplotlib draws in our style."""
    require_matplotlib()
    from matplotlib import rc_context

    look = files("deltavec.lab.report") / "figures.mplstyle"
    with as_file(look) as path, rc_context(fname=path), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the browser has other fonts
        yield


def new_canvas(panels: int) -> tuple[Any, list[Any]]:
    """An empty matplotlib figure and the axes of its panels, two in a row."""
    from matplotlib.figure import Figure as Canvas

    columns = min(2, panels)
    rows = -(-panels // columns)
    canvas = Canvas(figsize=(7 * columns, 4.4 * rows), layout="constrained")
    axes = canvas.subplots(rows, columns, squeeze=False).reshape(-1).tolist()
    for unused in axes[panels:]:
        unused.remove()
    return canvas, axes[:panels]


def finish(canvas: Any, name: str, title: str, caption: str) -> Figure:
    """The figure on a canvas; the same bytes every time."""
    written = io.StringIO()
    canvas.savefig(written, format="svg", metadata={"Date": None})
    svg = re.sub(r"^.*?(?=<svg)|<metadata>.*?</metadata>", "", written.getvalue(), flags=re.S)
    # Ids that every figure on the page repeats and that nothing refers to.
    return Figure(name, title, caption, re.sub(r' id="[a-zA-Z.]+[0-9]*d?_[0-9a-z]+"', "", svg))


def scale_areas(axes: Any, low: float, high: float) -> None:
    """Scale the y axis of areas under the ROC curve so that it widens toward 1."""
    first = max((rank for rank, tick in enumerate(TICKS) if tick <= low), default=0)
    last = next((rank for rank, tick in enumerate(TICKS) if tick >= high), len(TICKS) - 1)
    ticks = TICKS[min(first, len(TICKS) - 2) : max(last, first + 1) + 1]
    axes.set_yscale("function", functions=(log_distance, lambda distance: 1 - 10.0**-distance))
    axes.set(ylim=(ticks[0], ticks[-1]), yticks=ticks, yticklabels=[f"{t:g}" for t in ticks])


def log_distance(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The distance to 1 on a log scale: as much room from .9 to .99 as from 0 to .9."""
    return -np.log10(np.maximum(1 - values, 1e-4))


def power_of_ten(value: float) -> str:
    """A decade for an axis: 10⁻⁴."""
    power = str(round(math.log10(value)))
    return "10" + power.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


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
