"""Marks on a plane as SVG: axes, lines, dots, bars and labels that keep out of each other's way.

Colours are named by classes and given by ``report.css``, so that a figure follows the page into
the dark. Ours rather than a plotting library's: nothing to install, small, and legible where the
page is narrow.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

FONT_SIZE = 12
LETTER = 6.7  # a letter's width at that size, on the safe side

Point = tuple[float, float]


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


def identity(value: float) -> float:
    """The value itself: an even scale."""
    return value


def nines(value: float) -> float:
    """How near a share is to 1: as much room from .9 to .99 as from 0 to .9."""
    return -math.log10(max(1 - value, 1e-4))


@dataclass(frozen=True)
class Axis:
    """Where values go.

    Attributes
    ----------
    low, high : float
        The values at both ends.
    start, end : float
        Where the ends are.
    scale : callable
        What makes equal steps of the values: `identity`, `math.log10`, `nines`.
    """

    low: float
    high: float
    start: float
    end: float
    scale: Callable[[float], float] = identity

    def at(self, value: float) -> float:
        """Where a value goes."""
        low, high = self.scale(self.low), self.scale(self.high)
        share = (self.scale(value) - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def apart(self, values: Iterable[float], gap: float) -> list[float]:
        """Those of the values on the axis that can be named without touching, the highest first."""
        kept: list[float] = []
        for value in sorted(values, reverse=True):
            free = not kept or abs(self.at(kept[-1]) - self.at(value)) >= gap
            if self.low <= value <= self.high and free:
                kept.append(value)
        return kept


def round_steps(low: float, high: float, count: int = 5) -> list[float]:
    """About so many round values from below ``low`` to above ``high``."""
    if high <= low:
        return [low]
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


NINES = (
    0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9999,
)  # fmt: skip


def nines_around(low: float, high: float) -> list[float]:
    """Round shares from below ``low`` to above ``high``."""
    first = max((place for place, value in enumerate(NINES) if value <= low), default=0)
    last = next((place for place, value in enumerate(NINES) if value >= high), len(NINES) - 1)
    return list(NINES[min(first, len(NINES) - 2) : max(last, first + 1) + 1])


def number(value: float) -> str:
    """A number for an axis or a table, without needless zeros: .95, 10, .605."""
    text = f"{value:.4f}".rstrip("0").rstrip(".")
    return text.replace("0.", ".", 1) if abs(value) < 1 and "." in text else text


def escaped(text: str) -> str:
    """Somebody's text for HTML and SVG, with a mark for what would not show."""
    visible = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
    return html.escape(visible)


def shortened(name: str, longest: int = 26) -> str:
    """A name that is not too long for a figure."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def text(x: float, y: float, content: str, kind: str = "", anchor: str = "start") -> str:
    """Words that start, end or have their middle at a place; ``kind`` names their classes."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{classes(kind)}>'
        f"{escaped(content)}</text>"
    )


def line(start: Point, end: Point, kind: str) -> str:
    """A straight line."""
    (x1, y1), (x2, y2) = start, end
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"{classes(kind)}/>'


def path(points: Sequence[Point], kind: str) -> str:
    """A line through points."""
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{places}"{classes(kind)}/>'


def dot(place: Point, radius: float, kind: str, tip: str = "") -> str:
    """A disc, and what is said when one points at it."""
    inside = f"<title>{escaped(tip)}</title>" if tip else ""
    return (
        f'<circle cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="{radius:g}"{classes(kind)}>'
        f"{inside}</circle>"
    )


def bar(x: float, y: float, width: float, height: float, kind: str, tip: str = "") -> str:
    """A rectangle from its upper left corner, and what is said when one points at it."""
    inside = f"<title>{escaped(tip)}</title>" if tip else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
        f"{classes(kind)}>{inside}</rect>"
    )


def classes(kind: str) -> str:
    """The attribute that names classes, if there are any."""
    return f' class="{kind}"' if kind else ""


def rules_across(axis: Axis, ticks: Iterable[float], left: float, right: float) -> str:
    """Horizontal lines at some values, named on the left."""
    return "".join(
        line((left, axis.at(tick)), (right, axis.at(tick)), "rule")
        + text(left - 6, axis.at(tick) + 4, number(tick), "tick", "end")
        for tick in axis.apart(ticks, FONT_SIZE)
    )


def names_below(
    axis: Axis, ticks: Iterable[float], y: float, name: Callable[[float], str] = number
) -> str:
    """The names of some values under a plane."""
    return "".join(
        text(axis.at(tick), y, name(tick), "tick", "middle")
        for tick in axis.apart(ticks, 2 * FONT_SIZE)
    )


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places for labels near the places wanted, at least ``gap`` apart, in the same order.

    Labels that would collide form a block around the mean of what they want; blocks that touch
    join. Blocks stay between ``low`` and ``high`` as long as there is room.
    """
    order = sorted(range(len(places)), key=lambda label: places[label])
    blocks: list[list[int]] = []
    for label in order:
        blocks.append([label])
        while len(blocks) > 1:
            upper, lower = (begin_of(block, places, gap, low, high) for block in blocks[-2:])
            if upper + gap * len(blocks[-2]) <= lower:
                break
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    found = [0.0] * len(places)
    for block in blocks:
        begin = begin_of(block, places, gap, low, high)
        for rank, label in enumerate(block):
            found[label] = begin + rank * gap
    return found


def begin_of(
    block: Sequence[int], places: Sequence[float], gap: float, low: float, high: float
) -> float:
    """Where the first label of a block goes."""
    size = gap * (len(block) - 1)
    middle = sum(places[label] for label in block) / len(block)
    return max(low, min(middle - size / 2, high - size))
