"""``deltavec evaluate duplicate-questions``: the paper's benchmark of forums, with a report."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltavec.cli import options
from deltavec.cli.experiments import Embedder, Seed, Skip, Vectors, VectorsMethod, names, trained_by
from deltavec.cli.printing import duration, print_json
from deltavec.cli.progress import stages
from deltavec.cli.reports import CACHE, Keeper, checked_report_folder, time_by_step
from deltavec.cli.score_tables import print_scores

if TYPE_CHECKING:
    from deltavec.evaluation.results import Results

EXAMPLES = (
    "deltavec evaluate duplicate-questions cqadupstack --skip doc2vec -o report",
    "deltavec evaluate duplicate-questions pairs.csv --vectors glove.txt -o report",
)


def duplicate_questions(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="PATH",
            show_default=False,
            help="CQADupStack (a folder or zip with <forum>_questions.json), BEIR's layout of it "
            "(corpus.jsonl, queries.jsonl, qrels), or a table of pairs with the columns forum, "
            "label, text_a and text_b.",
        ),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="REPORT",
            show_default=False,
            help="The folder for results.json, report.md and report.html. Finished work is kept "
            "there: the same command goes on from it.",
        ),
    ],
    pairs: Annotated[
        int,
        typer.Option(
            min=2,
            metavar="N",
            help="Compare at most so many pairs of a forum: all its duplicates, and others drawn "
            "at random.",
        ),
    ] = 10_000_000,
    vectors: Vectors = None,
    vectors_method: VectorsMethod = None,
    skip: Skip = "",
    embedder: Embedder = None,
    tokenizer: options.Tokenizer = options.TokenizerName.words,
    seed: Seed = 0,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure which recipe finds duplicate questions, forum by forum.

    A method's score is the area under the ROC curve of its cosines over pairs of questions: do
    duplicates lie closer than others? Weights come from the forum's own questions, vectors from
    the questions of all forums or from a file.
    """
    method = trained_by(vectors, vectors_method)
    begun = time.perf_counter()
    with stages("starting") as work:
        checked_report_folder(output)

        from deltavec.evaluation.duplicate_questions import duplicate_questions_benchmark

        if embedder is not None:  # a module beside the data is found, as python itself would
            sys.path.insert(0, str(Path.cwd()))
        keeper = Keeper(output)
        try:
            duplicate_questions_benchmark(
                path,
                vectors=vectors,
                vectors_method=method,
                most_pairs=pairs,
                seed=seed,
                skip=names(skip),
                embedder=embedder,
                tokenizer=tokenizer.value,
                cache=output / CACHE,
                threads=threads,
                on_stage=work.begin,
                on_progress=work.reach,
                on_notice=work.say,
                on_results=keeper.keep,
            )
        finally:  # interrupted or failed, too: what is there makes a report
            keeper.write_report()
    results = keeper.results
    assert results is not None
    seconds = time.perf_counter() - begun
    if as_json:
        print_json({"report": output, "seconds": round(seconds, 3), **record(results)})
        return
    print_scores(results)
    typer.echo(f"\n{duration(seconds)}; the report is {output / 'report.html'}")


def record(results: Results) -> dict[str, object]:
    """The scores, what was compared and where the time went, for a program."""
    return {
        "complete": results.complete,
        "scores": {problem.name: dict(problem.scores) for problem in results.problems},
        "forums": {
            problem.name: {
                name: value for name, value in problem.details.items() if name != "seconds"
            }
            for problem in results.problems
        },
        "seconds_by_step": time_by_step(results),
    }
