"""The map as a picture: points, legend, and labels that do not overlap."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from deltavec.errors import needing
from deltavec.io.artifacts.atomic import replacing
from deltavec.server.columns import CLUSTER, Colors
from deltavec.server.map_view import MapView

INCHES = (7.2, 7.2)
DOTS = 300  # an inch
MOST_LEVEL = 1  # finer names are for a map that can be zoomed
SIZES = (8.5, 6.0)
LONGEST = 28  # characters of a name in the key
SHADE = re.compile(r"--([a-z]+(?:-[a-z0-9]+)?): light-dark\((#\w{6}), (#\w{6})\)")


def save_picture(map_view: MapView, path: Path, *, by: str | None, dark: bool = False) -> None:
    """Write the map as a .png or .svg file.

    Parameters
    ----------
    map_view
        The map.
    path
        The file; its suffix gives the format.
    by
        What colors the points: a column, or ``cluster``; None for one color.
    dark
        Whether the background is dark.
    """
    with needing("lab", "a picture of a map needs matplotlib"):
        import matplotlib
        from matplotlib.figure import Figure

    shades = page_shades(dark)
    # Ids that do not change from run to run, and letters that stay text.
    with matplotlib.rc_context({"svg.hashsalt": "deltavec", "svg.fonttype": "none"}):
        figure = Figure(figsize=INCHES, facecolor=shades["map-ground"], layout="constrained")
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.set_aspect("equal")
        add_points(axes, map_view, map_view.colors(by) if by else None, shades)
        add_names(figure, axes, map_view, shades)
        with replacing(path) as temporary:
            kind = path.suffix.lower().removeprefix(".")
            about = {"Date": None} if kind == "svg" else {"Software": "deltavec"}
            figure.savefig(temporary, format=kind, dpi=DOTS, metadata=about)


def page_shades(dark: bool) -> dict[str, str]:
    """The colors of the page, by their names in its style sheet."""
    style = (files("deltavec.server.page") / "explorer.css").read_text(encoding="utf-8")
    return {match[1]: match[3 if dark else 2] for match in SHADE.finditer(style)}


def add_points(axes: Any, map_view: MapView, colors: Colors | None, shades: dict[str, str]) -> None:
    """Add the points and the key to their colors; clusters are named on the map itself."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.ticker import FuncFormatter

    places = map_view.positions.places[map_view.positions.shown]
    is_scale = colors is not None and colors.kind != "category"
    names = [f"scale-{n}" for n in range(5)] if is_scale else [f"point-{n}" for n in range(8)]
    stops, count = [shades[name] for name in names], 256 if is_scale else len(names)
    table = LinearSegmentedColormap.from_list("deltavec", stops, count)
    low, high = colors.range if colors is not None and is_scale else (0, len(names) - 1)
    values = np.array(colors.values if colors is not None else np.zeros(len(places)), float)
    points = axes.scatter(
        *places.T, s=float(np.clip(30_000 / max(1, len(places)), 0.5, 14)), c=values, vmin=low,
        vmax=high, cmap=table.with_extremes(bad=shades["point-other"]), plotnonfinite=True,
        linewidths=0, alpha=0.75, rasterized=True,
    )  # fmt: skip
    if colors is None or colors.by == CLUSTER:
        return
    if not is_scale:
        labels = [label[:LONGEST].replace("$", r"\$") for label in colors.labels]
        axes.legend(
            points.legend_elements(num=range(len(labels)))[0], labels, loc="upper center", ncols=4,
            bbox_to_anchor=(0.5, 0), fontsize=6, frameon=False, labelcolor=shades["ink"],
            handletextpad=0.1,
        )  # fmt: skip
        return
    bar = axes.figure.colorbar(
        points, ax=axes, orientation="horizontal", shrink=0.4, pad=0.01, aspect=40
    )
    if colors.kind == "date":
        days = FuncFormatter(lambda second, _: str(np.datetime64(int(second), "s").astype("M8[D]")))
        bar.ax.xaxis.set_major_formatter(days)
        bar.ax.locator_params(nbins=3)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=6, colors=shades["ink"], length=2)
    bar.set_label(colors.by[:LONGEST].replace("$", r"\$"), fontsize=7, color=shades["ink"])


def add_names(figure: Any, axes: Any, map_view: MapView, shades: dict[str, str]) -> None:
    """Add the names of regions, the broadest first, where they do not overlap."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.2, foreground=shades["map-ground"])]
    figure.canvas.draw()
    placed: list[Any] = []
    for name in sorted(map_view.names, key=lambda name: (name.level, -name.documents)):
        if name.level > MOST_LEVEL:
            continue
        text = axes.text(
            name.x, name.y, name.text.replace("$", r"\$"),
            ha="center", va="center", fontsize=SIZES[name.level], path_effects=halo,
            fontweight="bold" if name.level == 0 else "normal", color=shades["ink"], wrap=False,
        )  # fmt: skip
        box = text.get_window_extent().padded(3)
        if any(box.overlaps(other) for other in placed):
            text.remove()
        else:
            placed.append(box)
