"""Figures as SVG, drawn by matplotlib in one style. Text stays text."""

from __future__ import annotations

import io
import math
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from deltavec.errors import needing

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
