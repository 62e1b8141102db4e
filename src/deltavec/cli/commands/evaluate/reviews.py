"""``deltavec evaluate reviews``: the paper's review benchmark, with a report."""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated, Any

import typer

from deltavec.cli import options
from deltavec.cli.commands.evaluate import reports as shared
from deltavec.cli.corpora import open_corpus, require_rereadable

EXAMPLES = (
    "deltavec evaluate reviews reviews.parquet --group-column location --skip doc2vec -o report",
    "deltavec evaluate reviews reviews.parquet --group-column location -k 1,5 --doc2vec-k 1 -o few",
)


def reviews(
    corpus: options.Corpus,
    group_column: Annotated[str, options.option("NAME", "The column with a review's location.")],
    output: shared.ReportFolder,
    k: Annotated[
        str,
        options.option(
            "NUMBERS",
            "The number of reviews in a document, for each problem: 1-20, or 1,5,10.",
            "--reviews-per-document",
            "-k",
            default=True,
        ),
    ] = "1-20",
    documents_per_location: Annotated[
        int, options.count("The number of documents per location.", least=2)
    ] = 50,
    locations: Annotated[
        int, options.count("The number of locations: those with the most reviews.", least=2)
    ] = 60,
    kind_column: Annotated[
        str | None,
        options.option(
            "NAME",
            "The column with a location's kind; each kind gets the same share of the locations, "
            "if the data allow.",
        ),
    ] = None,
    vectors: shared.Vectors = None,
    vectors_method: shared.VectorsMethod = None,
    skip: shared.Skip = "",
    doc2vec_k: Annotated[
        str | None,
        options.option(
            "NUMBERS",
            "Train doc2vec, which is slow, for these only.",
            "--doc2vec-k",
            default="as -k",
        ),
    ] = None,
    embedder: shared.Embedder = None,
    column: options.Column = None,
    format: options.Format = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    tokenizer: options.Tokenizer = options.TokenizerName.words,
    seed: shared.Seed = 0,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Measure which recipe tells locations apart, by their reviews.

    Documents are k reviews of one location, drawn without replacement. The score of a method is
    the area under the ROC curve of its cosines over all pairs: are documents of one location
    closer than others? Word counts and vectors come from the whole file.
    """
    settings: dict[str, Any] = {
        "group_column": group_column,
        "kind_column": kind_column,
        "ks": parse_numbers(k, "'--reviews-per-document' / '-k'"),
        "documents_per_location": documents_per_location,
        "locations": locations,
        "doc2vec_ks": doc2vec_k and parse_numbers(doc2vec_k, "'--doc2vec-k'"),
        "tokenizer": tokenizer.value,
        "seed": seed,
        "threads": threads,
    }
    require_rereadable(corpus)
    source = open_corpus(corpus, column, format, encoding, delimiter)

    from deltavec.lab.reviews.benchmark import review_benchmark

    given: dict[str, Any] = {"vectors": vectors, "vectors_method": vectors_method, "skip": skip}
    shared.evaluate(
        partial(review_benchmark, source), output, as_json, embedder=embedder, **given, **settings
    )


def parse_numbers(text: str, option: str) -> list[int]:
    """The whole numbers of a text such as ``1-5,10``."""
    found: set[int] = set()
    for piece in map(str.strip, text.split(",")):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", piece)
        span = range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)
        if not span or span[0] < 1:
            raise typer.BadParameter(
                f"expected numbers from 1 on such as 1-20 or 1,5,10, got {text!r}",
                param_hint=option,
            )
        found.update(span)
    return sorted(found)
