"""The plot of benchmarks/spark.py: a bar for each way to turn text into vectors."""

from __future__ import annotations

from typing import Any

from speed.panels import Bar, bars_panel

from deltavec.lab.report.pages import as_file
from deltavec.lab.report.plots import Figure

NAMES = {
    "one_machine_to_parquet": "one machine, to Parquet",
    "spark_to_parquet": "Spark, to Parquet",
    "spark_to_nowhere": "Spark, not written",
}
COLOURS = {
    "one_machine_to_parquet": "slate",
    "spark_to_parquet": "blue",
    "spark_to_nowhere": "cyan",
}
PEERS = {"tf-idf": "tfidf_pandas_udf", "model2vec": "model2vec_pandas_udf"}


def drawn(report: dict[str, Any]) -> str:
    """The report's rates as an SVG file."""
    bars = [
        Bar(f"{NAMES[way]}, {run['dimensions']} dimensions", rate, COLOURS[way])
        for run in report["embed"]
        for way, rate in rates(run)
    ]
    for name, key in PEERS.items():
        bars += [
            Bar(f"{name} UDF: {NAMES[way]}", rate, "orange") for way, rate in rates(report[key])
        ]
    title = "Million tokens a second for each core"
    return as_file(Figure("spark", title, title, (bars_panel(title, bars),)))


def rates(run: dict[str, Any]) -> list[tuple[str, float]]:
    """What was measured, by way; nothing where it is absent."""
    return list(run.get("million_tokens_per_second_per_core", {}).items())
