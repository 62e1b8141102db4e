"""``deltavec index add``: more documents for a collection."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from deltavec.cli import options
from deltavec.cli.collections import Folder, Passes
from deltavec.cli.collections import opened as opened_collection
from deltavec.cli.corpora import opened
from deltavec.cli.printing import counted, duration, print_facts, print_json, share
from deltavec.cli.progress import stages

EXAMPLES = ("deltavec index add reviews.idx new.csv",)


def add(
    collection: Folder,
    corpus: options.Corpus,
    column: Annotated[
        str | None,
        typer.Option(
            "--column",
            "-c",
            metavar="NAME",
            show_default="as the collection was built",
            help="The column that holds the text.",
        ),
    ] = None,
    format: options.Format = None,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Add documents to a collection.

    They need the id column and the kept columns that it was built with. The model stays as it is:
    `deltavec info` says how well it knows the new text, and when to fit it anew. If the command is
    stopped, the collection is as it was.
    """
    with stages("opening the collection") as work:
        begun = time.perf_counter()
        before = opened_collection(collection)
        text_column = before.description.text_column if column is None else column
        documents = opened(corpus, text_column, format)
        passes = Passes(work)
        passes.begin("embedding")
        after = before.add(documents, threads=threads, on_progress=passes.progress)
        info = after.info()
        seconds = time.perf_counter() - begun
    added = len(after) - len(before)
    if as_json:
        print_json({"collection": collection, "added": added, **info, "seconds": round(seconds, 3)})
        return
    facts = {
        "added": counted(added, "document"),
        "documents": counted(len(after), "document"),
        "coverage": f"{share(info['coverage_added'] or 0)} of all words added are known "
        f"({share(info['coverage_at_fit'] or 0)} when the model was fitted)",
        "refit": f"due: {info['refit_reason']}" if info["refit_due"] else "not due",
        "time": duration(seconds),
        "saved": str(collection),
    }
    print_facts(facts)
