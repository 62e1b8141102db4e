"""``deltavec index add``: more documents for a collection."""

from __future__ import annotations

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
    column: str | None = options.option(
        *options.TEXT_COLUMN, default="as the collection was built", value=None
    ),
    format: options.Format = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    update: bool = typer.Option(
        False, "--update", help="Replace documents that have the same id; otherwise an error."
    ),
    threads: options.Threads = None,
    trust: options.Trust = False,
    as_json: options.AsJson = False,
) -> None:
    """Add documents to a collection.

    They need the id column and the kept columns of the collection. The model stays the same:
    `deltavec info` shows its coverage of the new text, and whether a new fit is due. An interrupted
    command changes nothing. A running `deltavec serve` sees the change within seconds.
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
