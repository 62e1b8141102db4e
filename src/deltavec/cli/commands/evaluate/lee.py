"""``deltavec evaluate lee``: agreement with people, on news stories that come with a dependency."""

from __future__ import annotations

import typer

from deltavec.cli import options
from deltavec.cli.commands.evaluate import options as shared
from deltavec.cli.commands.evaluate.reports import print_scores, reported
from deltavec.cli.printing import print_json

EXAMPLES = (
    "deltavec evaluate lee",
    "deltavec evaluate lee --vectors-method word2vec -o report",
)


def lee(
    output: shared.OptionalFolder = None,
    vectors: shared.Vectors = None,
    vectors_method: shared.VectorsMethod = None,
    skip: shared.Skip = "",
    embedder: shared.Embedder = None,
    seed: shared.Seed = 0,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure how well each recipe agrees with people.

    People rated how alike 50 news stories are. A method's score is Pearson's correlation of its
    cosines with them, once with the centre and the common component of all 350 stories, once
    with those of the 50. Nothing is downloaded.
    """
    given = shared.given(vectors, vectors_method, skip, embedder, seed, threads)
    with reported(output, embedder) as keeper:
        from deltavec.lab.lee import lee_benchmark
        from deltavec.lab.report.published_tables import LEE

        results = lee_benchmark(**given, progress=keeper.progress)
    if as_json:
        print_json(keeper.record(results) | {"published": LEE})
        return
    print_scores(results)
    published = ", ".join(f"{name} about {value:g}" for name, value in LEE.items())
    typer.echo(f"\npublished: {published}")
    typer.echo(keeper.ending)
