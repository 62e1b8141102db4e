"""The map as a file: an HTML page that works offline, or a picture.

The HTML file has page, scripts and data together. The page's modules are concatenated, each one
wrapped in a function that returns its exports. Text from documents is in a JSON block that it
cannot close. The content security policy allows only the script whose checksum it names.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from deltavec.errors import needing
from deltavec.io.artifacts.atomic import replacing
from deltavec.server.map_view import CLUSTER, Colors, MapView

MODULES = (
    "dom", "palette", "pixels", "density", "names", "lasso", "gestures", "marks", "map", "keys",
    "panel", "theme", "offline",
)  # fmt: skip
IMPORT = re.compile(r'^import (\{[^}]+\}) from "\./(\w+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:const|class|function) (\w+))", re.MULTILINE)
PLACE = re.compile(r'<section class="place".*?</section>', re.DOTALL)
TEXT_BYTES = 12_000_000  # about, of the beginnings of all texts together
LONGEST_TEXT = 240  # characters
SHORTEST_TEXT = 40
MOST_COLORS = 12  # columns
MOST_NAME = 200


def map_page(map_view: MapView, name: str) -> str:
    """The page: the map of a collection, with its colors and the beginnings of its texts."""
    script, style = bundle(), read("explorer.css")
    policy = (
        f"default-src 'none'; script-src '{checksum(script)}'; style-src '{checksum(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )
    place = PLACE.search(read("index.html"))
    assert place is not None
    parts = {
        "policy": policy,
        "title": escape(f"{name} · deltavec"),
        "style": style,
        "place": place[0],
        "data": inert(page_data(map_view, name)),
        "script": script,
    }
    template = read("offline.template")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)


def page_data(map_view: MapView, name: str) -> dict[str, Any]:
    """The data of the page."""
    shown = map_view.positions.shown
    collection = map_view.collection
    length = int(np.clip(TEXT_BYTES // max(1, len(shown)), SHORTEST_TEXT, LONGEST_TEXT))
    colors = map_view.color_names[: MOST_COLORS + 1]
    texts = collection.column("text").take(shown)
    return {
        **map_view.map_points(),
        "name": name[:MOST_NAME],
        "without": collection.description.zero_rows,
        "colors": {by: map_view.colors(by)._asdict() for by in colors},
        "texts": [beginning(text.as_py(), length) for text in texts],
    }


def beginning(text: str | None, length: int) -> str:
    """The first characters of a text, on one line."""
    return " ".join((text or "")[: 2 * length].split())[:length]


def inert(data: dict[str, Any]) -> str:
    """JSON that cannot close an element of the page, whatever it holds."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def bundle() -> str:
    """The modules of the page as one script."""
    return "\n".join(["'use strict';", *(wrap(name) for name in MODULES)])


def wrap(name: str) -> str:
    """A module as a function that returns its exports."""
    source = IMPORT.sub(r"const \1 = $\2;", read(f"{name}.js"))
    exported = ", ".join(match[2] for match in EXPORT.finditer(source))
    body = EXPORT.sub(r"\1", source)
    return f"const ${name} = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();"


def read(name: str) -> str:
    """A file of the page."""
    return (files("deltavec.server.page") / name).read_text(encoding="utf-8")


def checksum(text: str) -> str:
    """The hash of a script or a style in a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


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
