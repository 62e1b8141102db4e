"""``deltavec evaluate lee``: agreement with people, on news stories that come with a dependency."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from deltavec.cli import options
from deltavec.cli.experiments import Embedder, Seed, Skip, Vectors, VectorsMethod, names, trained_by
from deltavec.cli.printing import duration, print_json
from deltavec.cli.progress import stages
from deltavec.cli.reports import Keeper, checked_report_folder, time_by_step
from deltavec.cli.score_tables import print_scores

EXAMPLES = (
    "deltavec evaluate lee",
    "deltavec evaluate lee --vectors-method word2vec -o report",
)


def lee(
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="REPORT",
            show_default=False,
            help="The folder for results.json, report.md and report.html.",
        ),
    ] = None,
    vectors: Vectors = None,
    vectors_method: VectorsMethod = None,
    skip: Skip = "",
    embedder: Embedder = None,
    seed: Seed = 0,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure how well each recipe agrees with people.

    People rated how alike 50 news stories are. A method's score is Pearson's correlation of its
    cosines with them, once with the centre and the common component of all 350 stories, once
    with those of the 50. Nothing is downloaded.
    """
    method = trained_by(vectors, vectors_method)
    begun = time.perf_counter()
    with stages("starting") as work:
        if output is not None:
            checked_report_folder(output)

        from deltavec.evaluation.lee_benchmark import lee_benchmark
        from deltavec.evaluation.published_tables import LEE

        if embedder is not None:  # a module beside the data is found, as python itself would
            sys.path.insert(0, str(Path.cwd()))
        results = lee_benchmark(
            vectors=vectors,
            vectors_method=method,
            skip=names(skip),
            embedder=embedder,
            seed=seed,
            threads=threads,
            on_stage=work.begin,
        )
        if output is not None:
            keeper = Keeper(output)
            keeper.keep(results)
            keeper.write_report()
    seconds = time.perf_counter() - begun
    if as_json:
        scores = {problem.name: dict(problem.scores) for problem in results.problems}
        print_json(
            {
                "report": output,
                "seconds": round(seconds, 3),
                "scores": scores,
                "published": LEE,
                "seconds_by_step": time_by_step(results),
            }
        )
        return
    print_scores(results)
    published = ", ".join(f"{name} about {value:g}" for name, value in LEE.items())
    typer.echo(f"\npublished: {published}")
    where = "" if output is None else f"; the report is {output / 'report.html'}"
    typer.echo(f"{duration(seconds)}{where}")
