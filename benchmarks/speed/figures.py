"""The results as figures, drawn as those of `deltavec.lab.report`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from deltavec.lab.report.pages import as_file
from deltavec.lab.report.plots import COLOURS, Figure, Panel
from speed.claims import Results
from speed.panels import Bar, Line, Scale, bars_panel, lines_panel

RATE = "million words/s"
PARTS = {
    "copy": "(a) copy the text",
    "scan": "(b) scan + look-up",
    "gather": "(c) gather + add",
    "bound": "bound",
    "deltavec": "deltavec",
}


def throughput(section: Results) -> tuple[Panel, ...]:
    """Ours and the peers, the fastest first."""
    rows = sorted(section["rates"], key=lambda row: -row["million_words_per_second"])
    bars = [
        Bar(
            row["name"],
            row["million_words_per_second"],
            "blue" if row["name"].startswith("deltavec") else "slate",
        )
        for row in rows
    ]
    absent = [Bar(name, None, "slate") for name in section["absent"]]
    return (bars_panel(f"{RATE}, logarithmic", [*bars, *absent], logarithmic=True),)


def roofline(section: Results) -> tuple[Panel, ...]:
    """A panel for each number of dimensions and threads."""
    return tuple(
        bars_panel(
            f"{roof['dimensions']} dimensions, {of_length(roof)}{threads(roof)}: "
            f"{100 * roof['share_of_bound']:.0f} % of the bound",
            [
                Bar(name, roof["million_words_per_second"][part], colour(part))
                for part, name in PARTS.items()
                if part != "copy"  # many times the others: they would not show beside it
            ],
            logarithmic=False,
        )
        for roof in section["rooflines"]
    )


def colour(part: str) -> str:
    """The colour of a part."""
    return {"deltavec": "blue", "bound": "orange"}.get(part, "slate")


def of_length(roof: Results) -> str:
    """How long the documents are, in words, where that is not as they are."""
    return f"{roof['length']} words each, " if roof.get("length") else ""


def threads(place: Results) -> str:
    """How many threads, in words."""
    return "1 thread" if place["threads"] == 1 else f"{place['threads']} threads"


def lines(
    key: str, label: str, *, across: Scale, name: Callable[[Results], str]
) -> Callable[[Results], tuple[Panel, ...]]:
    """Rates against something, a line for each name."""

    def drawn(section: Results) -> tuple[Panel, ...]:
        grouped: dict[str, list[tuple[float, float]]] = {}
        for place in section["points"]:
            grouped.setdefault(name(place), []).append(
                (place[key], place["million_words_per_second"])
            )
        several = [
            Line(group, tuple(places), COLOURS[number % len(COLOURS)])
            for number, (group, places) in enumerate(grouped.items())
        ]
        return (lines_panel(RATE, label, several, across=across),)

    return drawn


def growth(section: Results) -> tuple[Panel, ...]:
    """Time and peak memory against documents, and the straight line through the last time."""
    places = section["points"]
    size, seconds = places[-1]["documents"], places[-1]["median_seconds"]
    linear = tuple((place["documents"], seconds * place["documents"] / size) for place in places)
    time = [
        Line("linear", linear, "slate", dashed=True),
        Line("measured", curve(places, "median_seconds"), "blue"),
    ]
    memory = [Line("measured", curve(places, "peak_megabytes"), "blue")]
    return (
        lines_panel("seconds", "documents", time, across=Scale.LOG, up=Scale.LOG),
        lines_panel("peak memory, MB", "documents", memory, across=Scale.LOG),
    )


def curve(places: list[dict[str, Any]], key: str) -> tuple[tuple[float, float], ...]:
    """A value of each point against its documents."""
    return tuple((place["documents"], place[key]) for place in places)


def dimensions_and_threads(place: Results) -> str:
    """Which line a point belongs to."""
    return f"{place['dimensions']} dimensions, {threads(place)}"


DRAWN: dict[str, tuple[str, str, Callable[[Results], tuple[Panel, ...]]]] = {
    "peers": ("throughput", "Ours and peers on the same text", throughput),
    "roofline": ("roofline", "Ours beside the bound, in million words a second", roofline),
    "threads": (
        "threads",
        "Rate against threads",
        lines(
            "threads", "threads", across=Scale.LOG2, name=lambda p: f"{p['dimensions']} dimensions"
        ),
    ),
    "lengths": (
        "lengths",
        "Rate against the length of documents",
        lines("length", "words in a document", across=Scale.LOG, name=dimensions_and_threads),
    ),
    "vocabulary": (
        "vocabulary",
        "Rate against the size of the table",
        lines("table_words", "words in the table", across=Scale.LOG, name=threads),
    ),
    "dimensions": (
        "dimensions",
        "Rate against dimensions",
        lines("dimensions", "dimensions", across=Scale.EVEN, name=threads),
    ),
    "growth": ("growth", "Time and peak memory against documents, from file to file", growth),
}


def write_figures(results: Results, folder: Path) -> None:
    """Write an SVG for each section that was measured."""
    for section, (name, title, draw) in DRAWN.items():
        if section in results:
            figure = Figure(name, title, "", draw(results[section]))
            (folder / f"{name}.svg").write_text(as_file(figure), "utf-8")
