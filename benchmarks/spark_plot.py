"""The plot of benchmarks/spark.py: a bar for each way to turn text into vectors."""

from __future__ import annotations

from typing import Any

from deltavec.evaluation import plots
from deltavec.evaluation.plots import Axis, Figure, Panel
from deltavec.evaluation.report_pages import as_file

WIDTH, ROW, TOP = 560, 24, 34
NAMES = {
    "one_machine_to_parquet": "one machine, to Parquet",
    "spark_to_parquet": "Spark, to Parquet",
    "spark_to_nowhere": "Spark, not written",
}
COLOURS = {"one_machine_to_parquet": "c6", "spark_to_parquet": "c0", "spark_to_nowhere": "c5"}


PEERS = {"tf-idf": "tfidf_pandas_udf", "model2vec": "model2vec_pandas_udf"}


def drawn(report: dict[str, Any]) -> str:
    """The report's rates as an SVG file."""
    bars = [
        (f"{NAMES[way]}, {run['dimensions']} dimensions", rate, COLOURS[way])
        for run in report["embed"]
        for way, rate in rates(run)
    ]
    for name, key in PEERS.items():
        bars += [(f"{name} UDF: {NAMES[way]}", rate, "c1") for way, rate in rates(report[key])]
    title = "Million tokens a second for each core"
    return as_file(Figure("spark", title, title, (panel(title, bars),)))


def rates(run: dict[str, Any]) -> list[tuple[str, float]]:
    """What was measured, by way; nothing where it is absent."""
    return list(run.get("million_tokens_per_second_per_core", {}).items())


def panel(title: str, bars: list[tuple[str, float, str]]) -> Panel:
    """One bar below the other over one axis."""
    left = 14 + plots.LETTER * max(len(name) for name, _, _ in bars)
    bottom = TOP + ROW * len(bars)
    ticks = plots.round_steps(0, max(rate for _, rate, _ in bars))
    across = Axis(0, ticks[-1], left, WIDTH - 50)
    marks = plots.text(4, 16, title, "title")
    for tick in ticks:
        marks += plots.line((across.at(tick), TOP - 6), (across.at(tick), bottom), "rule")
    marks += plots.names_below(across, ticks, bottom + 16)
    for place, (name, rate, colour) in enumerate(bars):
        y = TOP + ROW * place
        width = across.at(rate) - left
        marks += plots.text(left - 6, y + 13, name, "tick", "end")
        marks += plots.bar(left, y, width, ROW - 8, f"fill {colour}", f"{name}: {rate:g}")
        marks += plots.text(across.at(rate) + 5, y + 13, f"{rate:.2f}", "label")
    return Panel(title, WIDTH, bottom + 24, marks)
