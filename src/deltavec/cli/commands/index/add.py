"""``deltavec index add``: more documents for a collection."""

from __future__ import annotations

from typing import Annotated

import typer

from deltavec.cli import options
from deltavec.cli.corpora import open_corpus
from deltavec.cli.printing import counted, duration, print_result, refit_line, share
from deltavec.cli.progress import Passes, stages

EXAMPLES = (
    "deltavec index add reviews.idx new.csv",
    "deltavec index add named.idx reviews.csv --update",
)


def add(
    collection: options.Collection,
    corpus: options.Corpus,
    column: Annotated[
        str | None, options.option(*options.TEXT_COLUMN, default="as the collection was built")
    ] = None,
    format: options.Format = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    update: Annotated[
        bool,
        typer.Option(
            "--update",
            help="Let documents take the place of those with their ids, instead of refusing them.",
        ),
    ] = False,
    threads: options.Threads = None,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Add documents to a collection.

    They need the id column and the kept columns that it was built with. The model stays as it is:
    `deltavec info` says how well it knows the new text, and when to fit it anew. If the command is
    stopped, the collection is as it was. A running `deltavec serve` sees the change within seconds.
    """
    with stages("opening the collection") as work:
        from deltavec.collection import open_collection

        before = open_collection(collection, verify=False, trust=trust)
        documents = open_corpus(
            corpus,
            column,
            format,
            encoding,
            delimiter,
            expected=before.description.text_column,
        )
        passes = Passes(work)
        passes.begin("embedding")
        after = before.add(documents, update=update, threads=threads, on_progress=passes.progress)
        info = after.info()
    added, seconds = len(after) - len(before), work.seconds
    updated = after.description.removed - before.description.removed
    facts = {
        "added": counted(added, "document"),
        "updated": counted(updated, "document"),
        "documents": counted(len(after), "document"),
        "coverage": f"{share(info['coverage_added'] or 0)} of all words added are known "
        f"({share(info['coverage_at_fit'] or 0)} when the model was fitted)",
        "refit": refit_line(info),
        "time": duration(seconds),
        "saved": str(collection),
    }
    record = {
        "collection": collection,
        "added": added,
        "updated": updated,
        **info,
        "seconds": seconds,
    }
    if not update:
        del facts["updated"]
    print_result(as_json, record, facts)
