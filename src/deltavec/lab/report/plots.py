"""Panels of a figure, drawn by matplotlib as SVG whose colours follow the page into the dark.

matplotlib is told the colours of a light page. In what it writes each of them is replaced by the
name it has in ``figures.css``, so that one drawing serves both. Text stays text.
"""

from __future__ import annotations

import html
import io
import math
import re
import warnings
from collections.abc import Callable, Sequence
from importlib.resources import as_file, files
from typing import Any, NamedTuple

from deltavec.errors import needing

COLOURS = ("blue", "orange", "green", "purple", "gold", "cyan", "slate")
LONGEST_NAME = 26
LABEL_HEIGHT = 14.5
# Which colour of the style sheet each part of a panel has.
PARTS = {
    "ink": ("text.color", "axes.titlecolor"),
    "rule": ("axes.edgecolor", "grid.color"),
    "soft": ("axes.labelcolor", "xtick.color", "ytick.color"),
}

# Round shares; the steps between them look about equal on the scale of `nines`.
SHARES = (
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9999,
)  # fmt: skip


class Panel(NamedTuple):
    """One plane with its marks.

    Attributes
    ----------
    title : str
        What it shows, for those who hear it read.
    width, height : int
        In units that are pixels at full size.
    marks : str
        SVG elements.
    """

    title: str
    width: int
    height: int
    marks: str

    def svg(self, attributes: str = "") -> str:
        """The panel as an SVG element."""
        return (
            f'<svg viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" role="img" aria-label="{escaped(self.title)}"{attributes}>'
            f"{self.marks}</svg>"
        )


class Figure(NamedTuple):
    """Panels that belong together.

    Attributes
    ----------
    name : str
        For its file, without the suffix.
    title, caption : str
        What it shows, and how to read it.
    panels : tuple of Panel
        One or more.
    """

    name: str
    title: str
    caption: str
    panels: tuple[Panel, ...]


def require_matplotlib() -> None:
    """Refuse to begin work whose figures could not be drawn."""
    with needing("plots", "the figures of a report need matplotlib"):
        import matplotlib  # noqa: F401


def file_text(name: str) -> str:
    """The text of a file that comes with the package."""
    return (files("deltavec.lab.report") / name).read_text(encoding="utf-8")


def colour(name: str) -> str:
    """A colour of the style sheet, as it is on a light page."""
    return light_colours()[name]


def light_colours() -> dict[str, str]:
    """The colours of a light page by name."""
    light = file_text("figures.css").partition("@media")[0]
    return dict(re.findall(r"--(\w+): (#\w{6})", light))


def panel(title: str, width: int, height: int, draw: Callable[[Any], None]) -> Panel:
    """The panel that ``draw`` makes of matplotlib's axes; the same bits every time."""
    require_matplotlib()
    from matplotlib import figure, rc_context

    colours = light_colours()
    inks: Any = {part: colours[name] for name, parts in PARTS.items() for part in parts}
    look = files("deltavec.lab.report") / "figures.mplstyle"
    with as_file(look) as path, rc_context(inks, path), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the browser has other fonts
        canvas = figure.Figure(figsize=(width / 72, height / 72), layout="constrained")
        draw(canvas.add_subplot())
        written = io.StringIO()
        canvas.savefig(written, format="svg", transparent=True, metadata={"Date": None})
    body = re.sub(
        r"^.*?<svg[^>]*>|</svg>\s*$|<metadata>.*?</metadata>", "", written.getvalue(), flags=re.S
    )
    for name, value in colours.items():
        body = body.replace(value, f"var(--{name})")
    # Names that are on the page once for each panel, and that nothing asks for.
    body = re.sub(r' id="[a-zA-Z.]+[0-9]*d?_[0-9a-z]+"', "", body)
    return Panel(title, width, height, body.strip())


def visible(text: str) -> str:
    """Somebody's text, with a mark for what would not show."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def escaped(text: str) -> str:
    """Somebody's text for HTML and SVG."""
    return html.escape(visible(text))


def shortened(name: str) -> str:
    """A name that is not too long for a figure."""
    name = visible(name)
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def number(value: float) -> str:
    """A number for an axis, without needless zeros: .95, 10, .605."""
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    return text.replace("0.", ".", 1) if abs(value) < 1 and "." in text else text


def nines(value: float) -> float:
    """How near a share is to 1: as much room from .9 to .99 as from 0 to .9."""
    return -math.log10(max(1 - value, 1e-4))


def shares_around(low: float, high: float) -> list[float]:
    """Round shares from below ``low`` to above ``high``."""
    first = max((place for place, value in enumerate(SHARES) if value <= low), default=0)
    last = next((place for place, value in enumerate(SHARES) if value >= high), len(SHARES) - 1)
    return list(SHARES[min(first, len(SHARES) - 2) : max(last, first + 1) + 1])


def apart(shares: Sequence[float], room: float) -> list[float]:
    """Those of the shares that can be named on an axis of this length, the highest first."""
    scale = (nines(shares[-1]) - nines(shares[0])) / room
    kept: list[float] = []
    for share in reversed(shares):
        if not kept or nines(kept[-1]) - nines(share) >= LABEL_HEIGHT * scale:
            kept.append(share)
    return kept


class Named(NamedTuple):
    """A line's end, and what to write beside it."""

    name: str
    x: float
    y: float
    colour: str


def name_ends(axes: Any, ends: Sequence[Named], height: float) -> None:
    """Write the names of lines beside a plane, each led to from the line's end."""
    shares = axes.transScale + axes.transLimits  # of the plane's height, whatever its scale
    wanted = [shares.transform((end.x, end.y))[1] for end in ends]
    places = spread(wanted, LABEL_HEIGHT / height, 0, 1)
    for end, y in zip(ends, places, strict=True):
        axes.annotate(
            shortened(end.name),
            (end.x, end.y),
            (1.05, y),
            textcoords="axes fraction",
            color=end.colour,
            verticalalignment="center",
            arrowprops={
                "arrowstyle": "-",
                "color": end.colour,
                "linewidth": 0.6,
                "shrinkA": 0,
                "shrinkB": 2,
            },
        )


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places for labels near the places wanted, at least ``gap`` apart, in the same order.

    Labels that would collide form a block around the mean of what they want; blocks that touch
    join. Blocks stay between ``low`` and ``high`` as long as there is room.
    """

    def begin_of(block: Sequence[int]) -> float:
        size = gap * (len(block) - 1)
        middle = sum(places[label] for label in block) / len(block)
        return max(low, min(middle - size / 2, high - size))

    blocks: list[list[int]] = []
    for label in sorted(range(len(places)), key=lambda label: places[label]):
        blocks.append([label])
        while len(blocks) > 1 and begin_of(blocks[-2]) + gap * len(blocks[-2]) > begin_of(
            blocks[-1]
        ):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    found = [0.0] * len(places)
    for block in blocks:
        for rank, label in enumerate(block):
            found[label] = begin_of(block) + rank * gap
    return found
