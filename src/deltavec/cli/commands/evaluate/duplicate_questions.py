"""``deltavec evaluate duplicate-questions``: the paper's benchmark of forums, with a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deltavec.cli import options
from deltavec.cli.commands.evaluate import options as shared
from deltavec.cli.commands.evaluate.reports import CACHE, print_scores, reported
from deltavec.cli.printing import print_json

EXAMPLES = (
    "deltavec evaluate duplicate-questions cqadupstack --skip doc2vec -o report",
    "deltavec evaluate duplicate-questions pairs.csv --vectors glove.txt -o report",
)


def duplicate_questions(
    path: Annotated[
        Path,
        options.argument(
            "PATH",
            "CQADupStack (a folder or zip with <forum>_questions.json), BEIR's layout of it "
            "(corpus.jsonl, queries.jsonl, qrels), or a table of pairs with the columns forum, "
            "label, text_a and text_b.",
        ),
    ],
    output: shared.ReportFolder,
    pairs: Annotated[
        int,
        options.count(
            "Compare at most so many pairs of a forum: all its duplicates, and others drawn "
            "at random.",
            least=2,
        ),
    ] = 10_000_000,
    vectors: shared.Vectors = None,
    vectors_method: shared.VectorsMethod = None,
    skip: shared.Skip = "",
    embedder: shared.Embedder = None,
    encoding: options.Encoding = None,
    tokenizer: options.Tokenizer = options.TokenizerName.words,
    seed: shared.Seed = 0,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure which recipe finds duplicate questions, forum by forum.

    A method's score is the area under the ROC curve of its cosines over pairs of questions: do
    duplicates lie closer than others? Weights come from the forum's own questions, vectors from
    the questions of all forums or from a file.
    """
    given = shared.given(vectors, vectors_method, skip, embedder, seed, threads)
    with reported(output, embedder) as keeper:
        from deltavec.lab.questions.benchmark import duplicate_questions_benchmark

        results = duplicate_questions_benchmark(
            path,
            encoding=encoding,
            **given,
            most_pairs=pairs,
            tokenizer=tokenizer.value,
            cache=output / CACHE,
            progress=keeper.progress,
        )
    if as_json:
        forums = {
            problem.name: {
                name: value for name, value in problem.details.items() if name != "seconds"
            }
            for problem in results.problems
        }
        print_json(keeper.record(results) | {"forums": forums})
        return
    print_scores(results)
    typer.echo(f"\n{keeper.ending}")
