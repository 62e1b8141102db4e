"""``deltavec index build``: a collection from a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from deltavec.cli import options
from deltavec.cli.corpora import expect, open_corpus
from deltavec.cli.outputs import lock_collection
from deltavec.cli.printing import (
    counted,
    coverage_line,
    duration,
    map_line,
    model_line,
    print_result,
    refit_line,
    share,
    words_line,
)
from deltavec.cli.progress import Passes, stages

if TYPE_CHECKING:
    from deltavec.io.corpus.corpus import Corpus

EXAMPLES = (
    "deltavec index build reviews.dv reviews.csv --keep rating -o reviews.idx",
    "deltavec index build reviews.dv reviews.csv --id-column id -o named.idx",
)


def build(
    model: options.Model,
    corpus: options.Corpus,
    output: Path = options.output("REVIEWS.idx", "The folder to write the collection to."),
    id_column: str | None = options.option(
        "NAME", "The column of unique ids.", default="document numbers, from 0", value=None
    ),
    keep: list[str] | None = options.option(
        "COLUMNS",
        "Columns to store, to show and to filter by: rating,city; repeatable.",
        value=None,
    ),
    column: options.ModelColumn = None,
    format: options.Format = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    collection_model: bool = typer.Option(
        True,
        "--collection-model/--no-collection-model",
        help="Adapt the model to these documents first, in an extra pass.",
    ),
    words: bool = typer.Option(
        True, "--words/--no-words", help="Store an inverted index, for keyword and hybrid search."
    ),
    stems: options.Stems = True,
    with_map: bool = typer.Option(
        False, "--map/--no-map", help="Compute the map now, not at the first `deltavec serve`."
    ),
    threads: options.Threads = None,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Build a collection: documents and their vectors, to search.

    Stores texts, ids, chosen columns, vectors and the model. An existing collection is replaced
    atomically.
    """
    with stages("starting") as work, lock_collection(output):
        from deltavec.collection import build_collection
        from deltavec.io.artifacts.model import load
        from deltavec.io.corpus.files import COLUMN

        work.begin("loading the model")
        expect(corpus)
        loaded = load(model, trust=trust)
        expected = loaded.notes.get(COLUMN)
        documents = open_corpus(corpus, column, format, encoding, delimiter, expected=expected)
        kept = named_columns(keep or [], documents)
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
            words=words,
            stems=stems,
        )
        if with_map:
            built = built.with_map(threads=threads, on_stage=work.begin, on_progress=work.reach)
        info = built.info()
    record = {"collection": output, **info, "seconds": work.seconds}
    print_result(as_json, record, summary(info, output, work.seconds))


def named_columns(options: Sequence[str], corpus: Corpus) -> list[str]:
    """The columns that the options name; commas separate several."""
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
    """The facts to print."""
    documents = counted(info["documents"], "document")
    if info["documents_without_vector"]:
        documents += f", {info['documents_without_vector']:,} of them without a vector"
    facts = {
        "documents": documents,
        "ids": str(info["ids"]),
        "columns": ", ".join(info["columns"]) or "none",
        "model": model_line(info),
        "coverage": f"{coverage_line(info['coverage_built'])} "
        f"({share(info['coverage_at_fit'] or 0)} when the model was fitted)",
        "words": words_line(info),
        "map": map_line(info),
        "time": duration(seconds),
        "saved": str(output),
    }
    if info["refit_due"]:
        facts["refit"] = refit_line(info)
    return facts
