"""``deltavec evaluate reviews``: the paper's review benchmark, with a report."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltavec.cli import options
from deltavec.cli.commands.evaluate import options as shared
from deltavec.cli.commands.evaluate.reports import CACHE, numbers, reported, time_by_step
from deltavec.cli.corpora import open_corpus, require_rereadable
from deltavec.cli.printing import counted, duration, print_facts, print_json, share

if TYPE_CHECKING:
    from deltavec.lab.results import Results

EXAMPLES = (
    "deltavec evaluate reviews reviews.parquet --group-column location --skip doc2vec -o report",
    "deltavec evaluate reviews reviews.parquet --group-column location -k 1,5 --doc2vec-k 1 -o few",
)


# Where the common component is fitted.
ComponentsFrom = StrEnum("ComponentsFrom", ["documents", "corpus"])


def reviews(
    corpus: options.Corpus,
    group_column: Annotated[
        str, options.option("NAME", "The column that names a review's location.")
    ],
    output: shared.ReportFolder,
    k: Annotated[
        str,
        options.option(
            "NUMBERS",
            "How many reviews make a document, for each problem: 1-20, or 1,5,10.",
            "--reviews-per-document",
            "-k",
            default=True,
        ),
    ] = "1-20",
    documents_per_location: Annotated[
        int, options.count("Documents that are made for each location.", least=2)
    ] = 50,
    locations: Annotated[
        int, options.count("How many locations: the most reviewed.", least=2)
    ] = 60,
    kind_column: Annotated[
        str | None,
        options.option(
            "NAME",
            "The column that names a location's kind; each kind has the same share of the "
            "locations, where the data allow.",
        ),
    ] = None,
    vectors: shared.Vectors = None,
    vectors_method: shared.VectorsMethod = None,
    components_from: Annotated[
        ComponentsFrom,
        typer.Option(
            help="Where -pca finds the component to remove: on the documents that are compared, "
            "as in the paper, or on the whole corpus."
        ),
    ] = ComponentsFrom.documents,
    skip: shared.Skip = "",
    doc2vec_k: Annotated[
        str | None,
        options.option(
            "NUMBERS",
            "Train doc2vec, which takes long, for these only.",
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

    Documents are k reviews of one location, drawn without replacement. A method's score is the
    area under the ROC curve of its cosines over all pairs: do documents of one location lie
    closer than those of two? Word counts and vectors come from the whole file.
    """
    ks = numbers(k, "'--reviews-per-document' / '-k'")
    doc2vec_ks = None if doc2vec_k is None else numbers(doc2vec_k, "'--doc2vec-k'")
    given = shared.given(vectors, vectors_method, skip, embedder, seed, threads)
    with reported(output, embedder) as keeper:
        require_rereadable(corpus)
        source = open_corpus(corpus, column, format, encoding, delimiter)

        from deltavec.lab.reviews.benchmark import review_benchmark

        results = review_benchmark(
            source,
            **given,
            group_column=group_column,
            kind_column=kind_column,
            ks=ks,
            documents_per_location=documents_per_location,
            locations=locations,
            components_from=components_from.value,
            doc2vec_ks=doc2vec_ks,
            tokenizer=tokenizer.value,
            cache=output / CACHE,
            progress=keeper.progress,
        )
    if as_json:
        lengths = {p.name: p.lengths and asdict(p.lengths) for p in results.problems}
        print_json(keeper.record(results) | {"lengths": lengths})
        return
    print_facts(summary(results, output, keeper.seconds))


def summary(results: Results, folder: Path, seconds: float) -> dict[str, str]:
    """What was found, in a few lines."""
    steps = time_by_step(results)
    whole = sum(steps.values())
    first, last = results.problems[0], results.problems[-1]
    lines = {
        "problems": f"{counted(len(results.problems), 'problem')} of "
        f"{counted(first.details['documents'], 'document')} each"
    }
    for problem in dict.fromkeys((first.name, last.name)):
        scores = next(one.scores for one in results.problems if one.name == problem)
        best = sorted(scores, key=lambda name: -scores[name])[:4]
        lines[f"k = {problem}"] = ", ".join(f"{name} {scores[name]:.4f}" for name in best)
    lines |= {f"note {place}": note for place, note in enumerate(results.settings["notes"], 1)}
    return lines | {
        "time": duration(seconds),
        "all runs": f"{duration(whole)}: "
        + ", ".join(
            f"{step} {duration(took)} ({share(took / whole)})" for step, took in steps.items()
        ),
        "report": str(folder / "report.html"),
    }
