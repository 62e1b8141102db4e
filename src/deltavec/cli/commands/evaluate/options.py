"""Options that the commands of ``deltavec evaluate`` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from deltavec.cli import options
from deltavec.cli.commands.vectors import Method

ReportFolder = Annotated[
    Path,
    options.output(
        "REPORT",
        "The folder for results.json, report.md and report.html. Finished work is kept "
        "there: the same command goes on from it.",
    ),
]
OptionalFolder = Annotated[
    Path | None,
    options.output("REPORT", "The folder for results.json, report.md and report.html."),
]
Vectors = Annotated[
    Path | None, options.word_vectors("Word vectors. Without, they are trained on the texts.")
]
VectorsMethod = Annotated[
    Method | None,
    typer.Option(show_default="ppmi", help="How to train them; the paper's were word2vec's."),
]
Skip = Annotated[
    str,
    options.option("NAMES", "Baselines to leave out: doc2vec, tf-idf, lsa, with commas between."),
]
Embedder = Annotated[
    str | None,
    options.option(
        "MODULE:FUNCTION",
        "A function of your own, from a list of texts to a matrix, as one more column.",
    ),
]
Seed = Annotated[int, options.count("For all random draws.", least=0)]


def given(
    vectors: Path | None,
    method: Method | None,
    skip: str,
    embedder: str | None,
    seed: int,
    threads: int | None,
) -> dict[str, Any]:
    """What every experiment is given; how to train vectors that are there is a mistake."""
    if vectors is not None and method is not None:
        raise typer.BadParameter("not with --vectors", param_hint="'--vectors-method'")
    return {
        "vectors": vectors,
        "vectors_method": (method or Method.ppmi).value,
        "skip": [name.strip() for name in skip.split(",") if name.strip()],
        "embedder": embedder,
        "seed": seed,
        "threads": threads,
    }
