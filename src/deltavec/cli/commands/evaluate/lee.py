"""``deltavec evaluate lee``: agreement with people, on news stories that come with gensim."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from deltavec.cli import options
from deltavec.cli.commands.evaluate import reports as shared

EXAMPLES = ("deltavec evaluate lee", "deltavec evaluate lee --vectors-method word2vec -o report")


def lee(
    output: Annotated[
        Path | None,
        options.output("REPORT", "The folder for results.json, report.md and report.html."),
    ] = None,
    vectors: shared.Vectors = None,
    vectors_method: shared.VectorsMethod = None,
    skip: shared.Skip = "",
    embedder: shared.Embedder = None,
    seed: shared.Seed = 0,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure how well each recipe agrees with people.

    People rated the similarity of 50 news stories. The score of a method is Pearson's correlation
    of its cosines with the ratings, once with the center and the common component of all 350
    stories, once with those of the 50. Nothing is downloaded.
    """
    from deltavec.lab.lee import lee_benchmark
    from deltavec.lab.report.published_tables import LEE

    given: dict[str, Any] = {"vectors": vectors, "vectors_method": vectors_method, "skip": skip}
    shared.evaluate(
        lee_benchmark, output, as_json, **given, embedder=embedder, seed=seed, threads=threads
    )
    if not as_json:
        typer.echo("published: " + ", ".join(f"{name} about {r:g}" for name, r in LEE.items()))
