"""``deltavec embed``: the vectors of a whole corpus, in a file."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

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
    output: str = options.output(
        "OUT", "The vectors: a .parquet, .arrow or .npy file, or a folder/ of parquet files."
    ),
    column: options.ModelColumn = None,
    keep: list[str] | None = options.option(
        "COLUMN", "A column to copy to the output; repeatable.", "--keep", "-k", value=None
    ),
    as_collection: bool = typer.Option(
        False, "--as-collection", help="Adapt the model to these documents first, in an extra pass."
    ),
    format: options.Format = None,
    encoding: options.Encoding = None,
    delimiter: options.Delimiter = None,
    trust: options.Trust = False,
    threads: options.Threads = None,
    as_json: options.AsJson = False,
) -> None:
    """Embed a corpus: write one vector per document to a file.

    Vectors are in the order of the documents. A document without known words gets a zero vector.
    Run an interrupted command again to resume it.
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
    """Lock the output; raise an error if it cannot be written."""
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
    """The facts to print."""
    documents = counted(written.documents, "document")
    if written.resumed_documents:
        documents += f", {written.resumed_documents:,} of them by an earlier run"
    zero = written.zero_rows
    return {
        "documents": documents,
        "zero rows": f"{zero:,} without known words or zero after removal" if zero else "0",
        "dimensions": f"{dimensions}",
        "time": duration(seconds),
        "saved": str(written.path),
    }
