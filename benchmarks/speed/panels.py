"""Bars and lines over axes that may be logarithmic."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, NamedTuple

from deltavec.lab.report.plots import Named, Panel, colour, name_ends, number, panel

WIDTH, HEIGHT, ROW = 560, 300, 22
PLANE_HEIGHT = 220  # about what is left of it for marks


class Scale(enum.Enum):
    """What makes equal steps."""

    EVEN = "linear"
    LOG = "log"
    LOG2 = "log2"


class Bar(NamedTuple):
    """A value with its name; None where there is none."""

    name: str
    value: float | None
    colour: str


class Line(NamedTuple):
    """Points with a name."""

    name: str
    points: tuple[tuple[float, float], ...]
    colour: str
    dashed: bool = False


def short(value: float) -> str:
    """A number for an axis: 10 k, 1 M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{number(value / size)} {letter}"
    return number(value)


def bars_panel(title: str, bars: Sequence[Bar], *, logarithmic: bool = False) -> Panel:
    """Bars that lie, one under the other, each with its value."""

    def draw(axes: Any) -> None:
        axes.set_title(title)
        axes.grid(visible=False, axis="y")
        axes.set_xscale("log" if logarithmic else "linear")
        axes.xaxis.set_major_formatter(lambda value, _: short(value))
        axes.set_yticks(range(len(bars)), [bar.name for bar in bars])
        axes.tick_params("y", labelcolor=colour("ink"))
        axes.invert_yaxis()
        for row, bar in enumerate(bars):
            if bar.value is None:
                axes.text(0.01, row, "absent", va="center", transform=axes.get_yaxis_transform())
                continue
            axes.barh(row, bar.value, color=colour(bar.colour), height=0.68)
            value = f"{bar.value:,.0f}" if bar.value >= 100 else f"{bar.value:.3g}"
            axes.annotate(value, (bar.value, row), (5, 0), textcoords="offset points", va="center")
        axes.margins(x=0.12)

    return panel(title, WIDTH, 64 + ROW * len(bars), draw)


def lines_panel(
    title: str,
    label: str,
    lines: Sequence[Line],
    *,
    across: Scale = Scale.EVEN,
    up: Scale = Scale.EVEN,
) -> Panel:
    """Lines with dots, each named at its end."""

    def draw(axes: Any) -> None:
        axes.set_title(title)
        axes.set_xlabel(label)
        axes.grid(visible=False, axis="x")
        axes.set_xscale("linear" if across is Scale.EVEN else "log")
        axes.set_yscale(up.value)
        for line in lines:
            xs, ys = zip(*line.points, strict=True)
            style = "o--" if line.dashed else "o-"
            axes.plot(xs, ys, style, color=colour(line.colour), linewidth=1.8, markersize=4)
        if across is Scale.LOG2:
            axes.set_xticks(sorted({x for line in lines for x, _ in line.points}))
            axes.minorticks_off()
        if up is Scale.EVEN:
            axes.set_ylim(bottom=0)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(lambda value, _: short(value))
        ends = [Named(line.name, *line.points[-1], colour(line.colour)) for line in lines]
        name_ends(axes, ends, PLANE_HEIGHT)

    return panel(f"{title} against {label}", WIDTH, HEIGHT, draw)
