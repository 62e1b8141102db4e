"""``deltavec evaluate reviews``: the paper's review benchmark, with a report."""

from __future__ import annotations

import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltavec.cli import options
from deltavec.cli.corpora import opened
from deltavec.cli.printing import counted, duration, print_facts, print_json, share
from deltavec.cli.progress import stages
from deltavec.cli.reports import CACHE, Keeper, checked_report_folder, numbers, time_by_step
from deltavec.cli.vectors import Method

if TYPE_CHECKING:
    from deltavec.evaluation.results import Results

EXAMPLES = (
    "deltavec evaluate reviews reviews.parquet --group-column location --skip doc2vec -o report",
    "deltavec evaluate reviews reviews.parquet --group-column location -k 1,5 --doc2vec-k 1 -o few",
)


class ComponentsFrom(StrEnum):
    """Where the common component is fitted."""

    documents = "documents"
    corpus = "corpus"


def reviews(
    corpus: options.Corpus,
    group_column: Annotated[
        str,
        typer.Option(
            metavar="NAME", show_default=False, help="The column that names a review's location."
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
    k: Annotated[
        str,
        typer.Option(
            "--reviews-per-document",
            "-k",
            metavar="NUMBERS",
            help="How many reviews make a document, for each problem: 1-20, or 1,5,10.",
        ),
    ] = "1-20",
    documents_per_location: Annotated[
        int, typer.Option(min=2, metavar="N", help="Documents that are made for each location.")
    ] = 50,
    locations: Annotated[
        int, typer.Option(min=2, metavar="N", help="How many locations: the most reviewed.")
    ] = 60,
    kind_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default=False,
            help="The column that names a location's kind; each kind has the same share of the "
            "locations, where the data allow.",
        ),
    ] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(
            "--vectors",
            "-v",
            metavar="FILE",
            show_default=False,
            help="Word vectors. Without, they are trained on the reviews.",
        ),
    ] = None,
    vectors_method: Annotated[
        Method | None,
        typer.Option(show_default="ppmi", help="How to train them; the paper's were word2vec's."),
    ] = None,
    components_from: Annotated[
        ComponentsFrom,
        typer.Option(
            help="Where -pca finds the component to remove: on the documents that are compared, "
            "as in the paper, or on the whole corpus."
        ),
    ] = ComponentsFrom.documents,
    skip: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            show_default=False,
            help="Baselines to leave out: doc2vec, tf-idf, lsa, with commas between.",
        ),
    ] = "",
    doc2vec_k: Annotated[
        str | None,
        typer.Option(
            "--doc2vec-k",
            metavar="NUMBERS",
            show_default="as -k",
            help="Train doc2vec, which takes long, for these only.",
        ),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION",
            show_default=False,
            help="A function of your own, from a list of texts to a matrix, as one more column.",
        ),
    ] = None,
    column: options.Column = "text",
    format: options.Format = None,
    tokenizer: options.Tokenizer = options.TokenizerName.words,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="For all random draws.")] = 0,
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
    skipped = [name.strip() for name in skip.split(",") if name.strip()]
    if vectors is not None and vectors_method is not None:
        raise typer.BadParameter("not with --vectors", param_hint="'--vectors-method'")
    begun = time.perf_counter()
    with stages("starting") as work:
        checked_report_folder(output)
        source = opened(corpus, column, format)

        from deltavec.evaluation.reviews import review_benchmark

        if embedder is not None:  # a module beside the data is found, as python itself would
            sys.path.insert(0, str(Path.cwd()))
        keeper = Keeper(output)
        try:
            review_benchmark(
                source,
                group_column=group_column,
                kind_column=kind_column,
                ks=ks,
                documents_per_location=documents_per_location,
                locations=locations,
                seed=seed,
                vectors=vectors,
                vectors_method=(vectors_method or Method.ppmi).value,
                components_from=components_from.value,
                skip=skipped,
                doc2vec_ks=doc2vec_ks,
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
    print_facts(summary(results, output, seconds))


def record(results: Results) -> dict[str, object]:
    """The scores and where the time went, for a program."""
    return {
        "complete": results.complete,
        "scores": {problem.name: dict(problem.scores) for problem in results.problems},
        "lengths": {
            problem.name: problem.lengths and problem.lengths._asdict()
            for problem in results.problems
        },
        "seconds_by_step": time_by_step(results),
    }


def summary(results: Results, folder: Path, seconds: float) -> dict[str, str]:
    """What was found, in a few lines."""
    steps = time_by_step(results)
    whole = sum(steps.values()) or 1.0
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
        "of which": ", ".join(
            f"{step} {duration(took)} ({share(took / whole)})" for step, took in steps.items()
        ),
        "report": str(folder / "report.html"),
    }
