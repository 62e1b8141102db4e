"""The plot of benchmarks/large.py: pairs of words and processor time against words of text."""

from __future__ import annotations

from typing import Any

from speed.panels import Line, Scale, lines_panel

from deltavec.lab.report.pages import as_file
from deltavec.lab.report.plots import Figure

STAGES = {
    "counting pairs of words": ("pairs", "blue"),
    "finding leading directions": ("directions", "orange"),
    "comparing halves of documents": ("halves", "cyan"),
}


def drawn(report: dict[str, Any]) -> str:
    """The report as an SVG file."""
    runs = report["runs"]

    def line(name: str, colour: str, *keys: str) -> Line:
        return Line(name, tuple((run["words"], found(run, keys)) for run in runs), colour)

    by_stage = [
        line(name, colour, "fit", "processor_seconds_by_stage", stage)
        for stage, (name, colour) in STAGES.items()
    ]
    time = [*by_stage, line("embedding", "slate", "embed", "processor_seconds")]
    size = [line("pairs of words", "blue", "fit", "pairs"), line("words", "slate", "words")]
    panels = (
        lines_panel("processor seconds", "words", time, across=Scale.LOG, up=Scale.LOG),
        lines_panel("how many", "words", size, across=Scale.LOG, up=Scale.LOG),
    )
    title = "Fit and embed of growing text"
    return as_file(Figure("large", title, title, panels))


def found(run: dict[str, Any], keys: tuple[str, ...]) -> float:
    """A figure of a run."""
    value: Any = run
    for key in keys:
        value = value[key]
    return float(value)
