"""``deltavec index build``: a collection from a corpus."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deltavec.cli import options
from deltavec.cli.collections import Passes
from deltavec.cli.corpora import opened
from deltavec.cli.outputs import require_folder_of
from deltavec.cli.printing import counted, duration, print_facts, print_json, share
from deltavec.cli.progress import stages

if TYPE_CHECKING:
    from deltavec.io.corpora import Corpus

EXAMPLES = (
    "deltavec index build reviews.dv reviews.csv --keep rating -o reviews.idx",
    "deltavec index build reviews.dv reviews.csv --id-column id -o named.idx",
)


def build(
    model: options.Model,
    corpus: options.Corpus,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="REVIEWS.idx",
            show_default=False,
            help="The folder to write the collection to.",
        ),
    ],
    id_column: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default="the documents' numbers, from 0 on",
            help="The column that holds their ids, each once.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMNS",
            show_default=False,
            help="Columns to store beside the text, to show and to filter by: rating,city. May "
            "be given again.",
        ),
    ] = None,
    column: options.Column = "text",
    format: options.Format = None,
    collection_model: Annotated[
        bool,
        typer.Option(
            "--collection-model/--no-collection-model",
            help="Adapt the model to these documents first, so that they are compared as they "
            "should be; or use it as it is, in one pass.",
        ),
    ] = True,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Build a collection: documents and their vectors, to search and explore.

    Texts, ids, chosen columns, vectors and the model are stored together. A collection that is
    there already stays whole until the new one takes its place.
    """
    with stages("starting") as work:
        begun = time.perf_counter()
        check_output(output)
        documents = opened(corpus, column, format)
        kept = named_columns(keep or [], documents)

        from deltavec.collection import build_collection
        from deltavec.io.storage import load

        work.begin("loading the model")
        loaded = load(model)
        passes = Passes(work)
        built = build_collection(
            loaded,
            documents,
            output,
            id_column=id_column,
            keep=kept,
            threads=threads,
            on_progress=passes.progress,
            on_stage=passes.begin,
            as_collection=collection_model,
        )
        info = built.info()
        seconds = time.perf_counter() - begun
    if as_json:
        print_json({"collection": output, **info, "seconds": round(seconds, 3)})
        return
    print_facts(summary(info, output, seconds))


def check_output(output: Path) -> None:
    """Refuse an output that cannot be written, before anything is read."""
    from deltavec.collection.folder import require_replaceable

    require_replaceable(output)
    require_folder_of(output)


def named_columns(options: Sequence[str], corpus: Corpus) -> list[str]:
    """The columns that the options name, several of them parted by commas."""
    if not options:
        return []
    there = corpus.columns
    names = [
        name.strip()
        for option in options
        for name in ([option] if option in there else option.split(","))
    ]
    return [name for name in dict.fromkeys(names) if name]


def summary(info: dict[str, Any], output: Path, seconds: float) -> dict[str, str]:
    """What was built, in a few lines."""
    documents = counted(info["documents"], "document")
    if info["documents_without_vector"]:
        documents += f", {info['documents_without_vector']:,} of them without a vector"
    coverage = info["coverage_built"]
    known = "no words" if coverage is None else f"{share(coverage)} of the words are known"
    adapted = "adapted to the collection" if info["model_adapted"] else "as it was fitted"
    facts = {
        "documents": documents,
        "ids": str(info["ids"]),
        "columns": ", ".join(info["columns"]) or "none",
        "model": f"{info['recipe']}, {info['dimensions']} dimensions, {adapted}",
        "coverage": f"{known} ({share(info['coverage_at_fit'] or 0)} when the model was fitted)",
        "time": duration(seconds),
        "saved": str(output),
    }
    if info["refit_due"]:
        facts["refit"] = f"due: {info['refit_reason']}"
    return facts
