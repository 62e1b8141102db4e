"""The paper's two figures about weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from deltavec.evaluation import plots
from deltavec.evaluation.findings import weight_differences
from deltavec.evaluation.plots import Axis, Figure, Panel
from deltavec.evaluation.results import Problem, WeightCurve

WIDTH, HEIGHT = 500, 300
LEFT, TOP, BOTTOM = 40, 30, 40
MOST_DOTS = 1500
BINS = 20


def weight_functions(curve: WeightCurve) -> Figure:
    """Figure 1: the three weights against the share of the corpus."""
    return Figure(
        "weights",
        "Figure 1. The three weights of a word",
        "Against its share of the corpus, tf_ic. idf is scaled to run from 0 to 1, as in the "
        "paper; it depends on the documents a word is in, so that each word is a dot.",
        (weights_panel(curve),),
    )


def scaled(values: Sequence[float]) -> list[float]:
    """The values moved and stretched to run from 0 to 1 (Schmidt, section 3)."""
    low, high = min(values), max(values)
    return [(value - low) / (high - low) if high > low else 0.0 for value in values]


def weights_panel(curve: WeightCurve) -> Panel:
    """Dots for idf, lines for the two weights that are functions of the share."""
    words = [
        word
        for word in sorted(
            zip(
                curve.term_frequencies, scaled(curve.idf), curve.sif, curve.subsampling, strict=True
            )
        )
        if word[0] > 0  # there is no place for nothing on this axis
    ]
    low, high = words[0][0], words[-1][0]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    decades = [10.0**power for power in powers]
    across = Axis(decades[0], decades[-1], LEFT + 6, WIDTH - 16, math.log10)
    up = Axis(0, 1, HEIGHT - BOTTOM, TOP - 14)
    thinned = words[:: math.ceil(len(words) / MOST_DOTS)]
    marks = [
        plots.rules_across(up, (0, 0.25, 0.5, 0.75, 1), LEFT, WIDTH - 10),
        plots.names_below(across, decades, HEIGHT - BOTTOM + 18, power_of_ten),
        plots.text((LEFT + WIDTH) / 2, HEIGHT - 5, "share of the corpus, tf_ic", "tick", "middle"),
        *(
            plots.dot((across.at(word[0]), up.at(word[1])), 1.6, "fill c0 cloud")
            for word in thinned
        ),
        plots.path([(across.at(word[0]), up.at(word[2])) for word in thinned], "line c1"),
        plots.path([(across.at(word[0]), up.at(word[3])) for word in thinned], "line c2"),
        weights_legend(WIDTH - 132, TOP + 2),
    ]
    return Panel("The three weights against tf_ic", WIDTH, HEIGHT, "".join(marks))


def power_of_ten(value: float) -> str:
    """A decade for an axis: 10⁻⁴."""
    return "10" + str(round(math.log10(value))).translate(
        str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    )


def weights_legend(x: float, y: float) -> str:
    """The names of the weights, up where none of them goes."""
    return (
        plots.dot((x + 9, y), 3, "fill c0")
        + plots.text(x + 24, y + 4, "idf, scaled", "label c0")
        + plots.line((x, y + 18), (x + 18, y + 18), "line c1")
        + plots.text(x + 24, y + 22, "sif", "label c1")
        + plots.line((x, y + 36), (x + 18, y + 36), "line c2")
        + plots.text(x + 24, y + 40, "subsampling", "label c2")
    )


def weight_histograms(measure: str, problems: Sequence[Problem]) -> Figure | None:
    """Figure 2: how far idf is ahead of each other weight; None without pairs to compare."""
    gaps = {
        other: found
        for other in ("sif", "subsampling")
        if (found := weight_differences(problems, other))
    }
    if not gaps:
        return None
    steps = plots.round_steps(
        min(0.0, *(min(found) for found in gaps.values())),
        max(0.0, *(max(found) for found in gaps.values())),
        BINS,
    )
    width = steps[1] - steps[0] if len(steps) > 1 else 0.01
    panels = (histogram_panel(other, found, width, steps) for other, found in gaps.items())
    return Figure(
        "differences",
        "Figure 2. How far idf is ahead of the other weights",
        f"Differences in {measure}, one for each form, with and without removal, and problem. "
        "Right of the line idf is better.",
        tuple(panels),
    )


def histogram_panel(
    other: str, gaps: Sequence[float], width: float, steps: Sequence[float]
) -> Panel:
    """How often each difference occurs."""
    bins = Counter(math.floor(gap / width + 1e-9) for gap in gaps)
    most = max(bins.values())
    low = min(min(steps), *(number * width for number in bins))
    high = max(max(steps), *((number + 1) * width for number in bins))
    counts = plots.round_steps(0, most, 4)
    across = Axis(low, high, LEFT + 6, WIDTH - 16)
    up = Axis(0, counts[-1], HEIGHT - BOTTOM, TOP + 12)
    ahead = sum(gap > 0 for gap in gaps)
    bars = (
        plots.bar(
            across.at(number * width) + 0.75,
            up.at(count),
            across.at(width) - across.at(0) - 1.5,
            up.at(0) - up.at(count),
            "fill c0" if number >= 0 else "fill c1",
            f"{number * width:+.4f} to {(number + 1) * width:+.4f}: {count}",
        )
        for number, count in sorted(bins.items())
    )
    marks = [
        plots.text(LEFT, 16, f"idf − {other}", "title"),
        plots.text(WIDTH - 10, 16, f"idf ahead on {ahead} of {len(gaps)}", "label", "end"),
        plots.rules_across(up, [tick for tick in counts if tick == round(tick)], LEFT, WIDTH - 10),
        *bars,
        plots.line((across.at(0), TOP + 4), (across.at(0), HEIGHT - BOTTOM), "zero"),
        plots.names_below(across, plots.round_steps(low, high, 5), HEIGHT - BOTTOM + 18, signed),
        plots.text((LEFT + WIDTH) / 2, HEIGHT - 5, "difference", "tick", "middle"),
    ]
    title = f"Histogram of idf minus {other}: idf ahead on {ahead} of {len(gaps)}"
    return Panel(title, WIDTH, HEIGHT, "".join(marks))


def signed(value: float) -> str:
    """A difference for an axis: +.02, 0, −.01."""
    if value == 0:
        return "0"
    return ("+" if value > 0 else "−") + plots.number(abs(value))
