"""``deltavec evaluate duplicate-questions``: the paper's benchmark of forums, with a report."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

from deltavec.cli import options
from deltavec.cli.commands.evaluate import reports as shared

EXAMPLES = (
    "deltavec evaluate duplicate-questions cqadupstack --skip doc2vec -o report",
    "deltavec evaluate duplicate-questions pairs.csv --vectors glove.txt -o report",
)


def duplicate_questions(
    path: Annotated[
        Path,
        options.argument(
            "PATH",
            "CQADupStack (a folder or zip with <forum>_questions.json), or a table of pairs with "
            "the columns forum, label, text_a and text_b.",
        ),
    ],
    output: shared.ReportFolder,
    pairs: Annotated[
        int,
        options.count(
            "Compare at most this many pairs of a forum: all duplicates, and others at random.",
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

    The score of a method is the area under the ROC curve of its cosines over pairs of questions:
    are duplicates closer than others? Weights come from the forum's own questions, vectors from
    the questions of all forums or from a file.
    """
    from deltavec.lab.questions.benchmark import duplicate_questions_benchmark

    shared.evaluate(
        partial(duplicate_questions_benchmark, path, encoding=encoding, most_pairs=pairs),
        output,
        as_json,
        vectors=vectors,
        vectors_method=vectors_method,
        skip=skip,
        embedder=embedder,
        tokenizer=tokenizer.value,
        seed=seed,
        threads=threads,
    )
