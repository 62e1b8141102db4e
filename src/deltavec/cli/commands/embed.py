"""``deltavec embed``: the vectors of a whole corpus, in a file."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltavec.cli import options
from deltavec.cli.corpora import expect, followed, open_corpus, rereadable
from deltavec.cli.outputs import require_folder_of, require_suffix
from deltavec.cli.printing import counted, duration, print_result
from deltavec.cli.progress import Passes, stages

if TYPE_CHECKING:
    from deltavec.io.output.embed_to_file import Written

EXAMPLES = (
    "deltavec embed reviews.dv reviews.csv --keep id -o reviews.parquet",
    "deltavec embed reviews.dv reviews.csv --as-collection -o reviews.npy",
)


def embed(
    model: options.Model,
    corpus: options.Corpus,
    output: Annotated[
        str,
        options.output(
            "OUT",
            "Where to write the vectors: .parquet or .arrow (a column `embedding`), .npy, or a "
            "folder/ of parquet files.",
        ),
    ],
    column: options.ModelColumn = None,
    keep: Annotated[
        list[str] | None,
        options.option(
            "COLUMN",
            "A column of the corpus to write beside the vectors; may be given again.",
            "--keep",
            "-k",
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
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    trust: options.Trust = False,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Embed a corpus: one vector for each document, in a file.

    The vectors are in the order of the documents. A document without known words is a row of
    zeros, and is counted. A run that was stopped goes on where it was when it is typed again.
    """
    kept = keep or []
    with stages("starting") as work, writing_vectors(output, kept):
        from deltavec.io.artifacts.model import load
        from deltavec.io.corpus.files import COLUMN
        from deltavec.io.output.embed_to_file import embed_to_file

        work.begin("loading the model")
        expect(corpus)
        loaded = load(model, trust=trust)
        expected = loaded.notes.get(COLUMN)
        documents = open_corpus(corpus, column, format, encoding, delimiter, expected=expected)
        held = rereadable(documents, work) if as_collection else nullcontext(documents)
        with held as source:
            if as_collection:
                work.begin("learning from the collection")
                loaded = loaded.for_collection(followed(source, work), threads=threads)
            work.begin("embedding")
            passes = Passes(work)
            written = embed_to_file(
                loaded,
                source,
                output,
                keep=kept,
                threads=threads,
                on_progress=passes.progress,
                on_notice=passes.notice,
            )
    record = {
        "output": written.path,
        "documents": written.documents,
        "zero_rows": written.zero_rows,
        "resumed_documents": written.resumed_documents,
        "dimensions": loaded.dimensions,
        "seconds": work.seconds,
    }
    print_result(as_json, record, summary(written, loaded.dimensions, work.seconds))


def writing_vectors(output: str, keep: list[str]) -> AbstractContextManager[None]:
    """While it lasts the output is ours to write; refused if it cannot be."""
    from deltavec.io.artifacts.locks import only_writer
    from deltavec.io.output.sink import Target
    from deltavec.io.output.writers import WRITERS

    path = Path(output)
    if not path.is_dir() and not output.endswith("/"):
        require_suffix(path, WRITERS)
    target = Target.of(output, keep).path
    require_folder_of(target)
    return only_writer(target)


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
