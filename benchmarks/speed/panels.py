"""Bars and lines over axes that may be logarithmic."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import NamedTuple

from deltavec.evaluation import plots
from deltavec.evaluation.plots import Axis, Panel

WIDTH, HEIGHT, ROW = 560, 300, 22
LEFT, TOP, BOTTOM, LABEL_GAP = 46, 34, 42, 14.5


class Scale(enum.Enum):
    """What makes equal steps."""

    EVEN = "even"
    LOG = "log"
    LOG2 = "log2"


class Bar(NamedTuple):
    """A value with its name; None where there is none."""

    name: str
    value: float | None
    kind: str


class Line(NamedTuple):
    """Points with a name."""

    name: str
    points: tuple[tuple[float, float], ...]
    kind: str


def powers(low: float, high: float, base: int = 10) -> list[float]:
    """The powers of a number from below ``low`` to above ``high``."""
    first, last = math.floor(math.log(low, base) + 1e-9), math.ceil(math.log(high, base) - 1e-9)
    return [float(base) ** power for power in range(first, max(last, first + 1) + 1)]


def ticks(values: Sequence[float], scale: Scale) -> list[float]:
    """Round values around these."""
    if scale is Scale.EVEN:
        return plots.round_steps(0, max(values))
    return powers(min(values), max(values), 2 if scale is Scale.LOG2 else 10)


def function(scale: Scale) -> plots.Callable[[float], float]:
    """What an axis applies to its values."""
    return plots.identity if scale is Scale.EVEN else math.log10


def short(value: float) -> str:
    """A number for an axis: 10 k, 1 M."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{plots.number(value / size)} {letter}"
    return plots.number(value)


def bars_panel(title: str, bars: Sequence[Bar], *, logarithmic: bool) -> Panel:
    """Bars that lie, one under the other, each with its value."""
    values = [bar.value for bar in bars if bar.value is not None]
    scale = Scale.LOG if logarithmic else Scale.EVEN
    steps = ticks(values, scale)
    left = 14 + plots.LETTER * max(len(bar.name) for bar in bars)
    width = int(left + 330)
    across = Axis(steps[0], steps[-1], left, width - 60, function(scale))
    bottom = TOP + ROW * len(bars)
    marks = [
        plots.text(8, 16, title, "title"),
        *(
            plots.line((across.at(step), TOP - 6), (across.at(step), bottom), "rule")
            for step in steps
        ),
        plots.names_below(across, steps, bottom + 16, short),
        *(bar_marks(bar, across, left, TOP + ROW * place) for place, bar in enumerate(bars)),
    ]
    return Panel(title, width, bottom + 26, "".join(marks))


def bar_marks(bar: Bar, across: Axis, left: float, top: float) -> str:
    """One bar with its name before and its value behind it."""
    name = plots.text(left - 8, top + 14, bar.name, f"label {bar.kind}", "end")
    if bar.value is None:
        return name + plots.text(left + 6, top + 14, "absent", "tick")
    end = across.at(bar.value)
    value = f"{bar.value:,.0f}" if bar.value >= 100 else f"{bar.value:.3g}"
    return (
        name
        + plots.bar(left, top + 3, max(end - left, 1), ROW - 7, f"fill {bar.kind}", bar.name)
        + plots.text(end + 6, top + 14, value, f"label {bar.kind}")
    )


def lines_panel(
    title: str,
    label: str,
    lines: Sequence[Line],
    *,
    across: Scale = Scale.EVEN,
    up: Scale = Scale.EVEN,
) -> Panel:
    """Lines with dots, each named at its end."""
    xs = [x for line in lines for x, _ in line.points]
    ys = [y for line in lines for _, y in line.points]
    steps_up = ticks(ys, up)
    steps_across = sorted(set(xs)) if across is Scale.LOG2 else ticks(xs, across)
    right = WIDTH - 24 - plots.LETTER * max(len(line.name) for line in lines)
    x = Axis(min(xs), max(xs), LEFT + 8, right, function(across))
    y = Axis(steps_up[0], steps_up[-1], HEIGHT - BOTTOM, TOP, function(up))
    marks = [
        plots.text(8, 16, title, "title"),
        *(rule(y, step, right + 4) for step in y.apart(steps_up, plots.FONT_SIZE)),
        plots.names_below(
            x, [step for step in steps_across if min(xs) <= step <= max(xs)],
            HEIGHT - BOTTOM + 18, short,
        ),
        plots.text((LEFT + right) / 2, HEIGHT - 5, label, "tick", "middle"),
        *(line_marks(line, x, y) for line in lines),
        end_labels(lines, x, y),
    ]  # fmt: skip
    return Panel(f"{title} against {label}", WIDTH, HEIGHT, "".join(marks))


def rule(axis: Axis, step: float, right: float) -> str:
    """A horizontal line at a value, named on the left."""
    at = axis.at(step)
    return plots.line((LEFT, at), (right, at), "rule") + plots.text(
        LEFT - 6, at + 4, short(step), "tick", "end"
    )


def line_marks(line: Line, x: Axis, y: Axis) -> str:
    """A line, with a dot for each point that tells it when pointed at."""
    dots = (
        plots.dot((x.at(a), y.at(b)), 2.4, f"fill {line.kind}", f"{line.name}: {a:g}, {b:g}")
        for a, b in line.points
    )
    places = [(x.at(a), y.at(b)) for a, b in line.points]
    return plots.path(places, f"line {line.kind}") + "".join(dots)


def end_labels(lines: Sequence[Line], x: Axis, y: Axis) -> str:
    """The names of lines, each led to from the line's end."""
    ends = [(x.at(line.points[-1][0]), y.at(line.points[-1][1])) for line in lines]
    heights = plots.spread([at for _, at in ends], LABEL_GAP, TOP, HEIGHT - BOTTOM)
    return "".join(
        plots.path([end, (x.end + 10, at), (x.end + 15, at)], f"lead {line.kind}")
        + plots.text(x.end + 18, at + 4, line.name, f"label {line.kind}")
        for line, end, at in zip(lines, ends, heights, strict=True)
    )
