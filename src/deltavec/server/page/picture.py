"""The map as a picture: points, legend, and labels that do not overlap."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from deltavec.errors import needing
from deltavec.io.artifacts.atomic import replacing
from deltavec.server.columns import Colors
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
    places = map_view.positions.places[map_view.positions.shown]
    colors = map_view.colors(by) if by else None
    # Ids that do not change from run to run, and letters that stay text.
    with matplotlib.rc_context({"svg.hashsalt": "deltavec", "svg.fonttype": "none"}):
        figure = Figure(figsize=INCHES, facecolor=shades["map-ground"], layout="constrained")
        axes = figure.add_subplot()
        axes.set_axis_off()
        axes.set_aspect("equal")
        axes.set_facecolor(shades["map-ground"])
        size = float(np.clip(30_000 / max(1, len(places)), 0.5, 14))
        shown = point_colors(colors, len(places), shades)
        x, y = places.T
        axes.scatter(x, y, s=size, c=shown, linewidths=0, alpha=0.75, rasterized=True)
        add_key(axes, colors, shades)
        add_names(figure, axes, map_view, shades)
        with replacing(path) as temporary:
            kind = path.suffix.lower().removeprefix(".")
            about = {"Date": None} if kind == "svg" else {"Software": "deltavec"}
            figure.savefig(temporary, format=kind, dpi=DOTS, metadata=about)


def page_shades(dark: bool) -> dict[str, str]:
    """The colors of the page, by their names in its style sheet."""
    style = (files("deltavec.server.page") / "explorer.css").read_text(encoding="utf-8")
    return {match[1]: match[3 if dark else 2] for match in SHADE.finditer(style)}


def point_colors(colors: Colors | None, count: int, shades: dict[str, str]) -> Any:
    """A color for each point."""
    if colors is None:
        return [shades["point-0"]] * count
    other = shades["point-other"]
    if colors.kind == "category":
        table = [shades[f"point-{n % 8}"] for n in range(len(colors.labels))]
        return [other if value is None else table[value] for value in colors.values]
    from matplotlib.colors import to_hex

    scale = scale_map(shades)
    low, high = colors.range
    spread = high - low or 1.0
    return [
        other if value is None else to_hex(scale((value - low) / spread)) for value in colors.values
    ]


def scale_map(shades: dict[str, str]) -> Any:
    """The color scale of numbers and dates."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("deltavec", [shades[f"scale-{n}"] for n in range(5)])


def add_key(axes: Any, colors: Colors | None, shades: dict[str, str]) -> None:
    """Add the legend; clusters are named on the map itself."""
    if colors is None or colors.by == "cluster":
        return
    if colors.kind == "category":
        for number, label in enumerate(colors.labels):
            shade = shades[f"point-{number % 8}"]
            axes.scatter([], [], s=18, c=shade, label=label[:LONGEST].replace("$", r"\$"))
        axes.legend(
            loc="upper center", bbox_to_anchor=(0.5, 0), ncols=4, fontsize=6, frameon=False,
            labelcolor=shades["ink"], handletextpad=0.1,
        )  # fmt: skip
        return
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.ticker import FuncFormatter

    mapped = ScalarMappable(Normalize(colors.range[0], colors.range[1]), scale_map(shades))
    bar = axes.figure.colorbar(
        mapped, ax=axes, orientation="horizontal", shrink=0.4, pad=0.01, aspect=40
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
