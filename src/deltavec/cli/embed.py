"""``deltavec embed``: the vectors of a whole corpus, in a file."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltavec.cli import options
from deltavec.cli.corpora import followed, opened, rereadable
from deltavec.cli.outputs import require_folder_of, require_suffix
from deltavec.cli.printing import counted, duration, print_facts, print_json
from deltavec.cli.progress import Stages, stages

if TYPE_CHECKING:
    from deltavec.io.sinks import Progress, Written

EXAMPLES = (
    "deltavec embed reviews.dv reviews.csv --keep id -o reviews.parquet",
    "deltavec embed reviews.dv reviews.csv --as-collection -o reviews.npy",
)


def embed(
    model: options.Model,
    corpus: options.Corpus,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            show_default=False,
            help="Where to write the vectors: .parquet (a column `embedding`), .npy, or a folder/ "
            "of parquet files.",
        ),
    ],
    column: options.Column = "text",
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            "-k",
            metavar="COLUMN",
            show_default=False,
            help="A column of the corpus to write beside the vectors; may be given again.",
        ),
    ] = None,
    as_collection: Annotated[
        bool,
        typer.Option(
            "--as-collection",
            help="Compare these documents with each other: length, centre and common components "
            "are learned from them first. Reads the corpus twice.",
        ),
    ] = False,
    format: options.Format = None,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Embed a corpus: one vector for each document, in a file.

    The vectors are in the order of the documents. A document without known words is a row of
    zeros, and is counted. A run that was stopped goes on where it was when it is typed again.
    """
    kept = keep or []
    with stages("starting") as work:
        begun = time.perf_counter()
        check_output(output, kept)
        documents = opened(corpus, column, format)

        from deltavec.io.sinks import embed_to_file
        from deltavec.io.storage import load

        work.begin("loading the model")
        loaded = load(model)
        held = rereadable(documents, work) if as_collection else nullcontext(documents)
        with held as source:
            if as_collection:
                work.begin("learning from the collection")
                loaded = loaded.for_collection(followed(source, work), threads=threads)
            work.begin("embedding")
            report = Report(work)
            written = embed_to_file(
                loaded,
                source,
                output,
                keep=kept,
                threads=threads,
                on_progress=report.progress,
                on_notice=report.notice,
            )
        seconds = time.perf_counter() - begun
    if as_json:
        print_json(
            {
                "output": written.path,
                "documents": written.documents,
                "zero_rows": written.zero_rows,
                "resumed_documents": written.resumed_documents,
                "dimensions": loaded.dimensions,
                "seconds": round(seconds, 3),
            }
        )
        return
    print_facts(summary(written, loaded.dimensions, seconds))


def check_output(output: str, keep: list[str]) -> None:
    """Refuse an output that cannot be written, before anything is read."""
    from deltavec.io.targets import ASSEMBLIES, Target

    path = Path(output)
    if not path.is_dir() and not output.endswith("/"):
        require_suffix(path, ASSEMBLIES)
    require_folder_of(Target.of(output, keep).path)


class Report:
    """Hands on how far the embedding is; the rate leaves out what an earlier run has done."""

    def __init__(self, work: Stages) -> None:
        self.work = work
        self.before: int | None = 0
        self.begun = False

    def progress(self, reached: Progress) -> None:
        """Some more documents have been embedded."""
        if self.before is not None:
            self.work.add_documents(reached.documents - self.before)
        self.before = reached.documents
        self.begun = True
        if reached.fraction is not None:
            self.work.reach(reached.fraction)

    def notice(self, sentence: str) -> None:
        """Earlier work is used, or cannot be; or, once documents are embedded, what comes next."""
        if self.begun:
            self.work.begin(sentence)
        else:
            self.before = None  # how many documents there were, the next report tells
            self.work.say(sentence)


def summary(written: Written, dimensions: int, seconds: float) -> dict[str, str]:
    """What was written, in a few lines."""
    documents = counted(written.documents, "document")
    if written.resumed_documents:
        documents += f", {written.resumed_documents:,} of them by an earlier run"
    zero = written.zero_rows
    return {
        "documents": documents,
        "zero rows": f"{zero:,} without known words, or of which nothing is left" if zero else "0",
        "dimensions": f"{dimensions}",
        "time": duration(seconds),
        "saved": str(written.path),
    }
