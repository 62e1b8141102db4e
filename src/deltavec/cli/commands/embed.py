"""``deltavec embed`` and ``export``: vectors of a corpus, a model for other libraries."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltavec.cli import inputs, options
from deltavec.cli.printing import plural, print_result
from deltavec.cli.progress import stages

if TYPE_CHECKING:
    from deltavec.io.export.export import Exported
    from deltavec.io.output.embed_to_file import Written


def embed(
    model: Path,
    corpus: str,
    *,
    output: str,
    keep: list[str] | None = None,
    as_collection: bool = False,
    files: options.CorpusOptions = options.CorpusOptions(),
    trust: bool = False,
    threads: int | None = None,
    as_json: bool = False,
) -> None:
    """Embed a corpus: write one vector per document to a file.

    Vectors are in the order of the documents. A document without known words gets a zero vector.
    Run an interrupted command again to resume it.

    Parameters
    ----------
    output : OUT, -o
        The vectors: a .parquet, .arrow or .npy file, or a folder/ of parquet files.
    keep : COLUMN, -k
        A column to copy to the output; repeatable.
    as_collection
        Adapt the model to these documents first, in an extra pass.

    Examples
    --------
    deltavec embed reviews.dv reviews.csv --keep id -o reviews.parquet
    deltavec embed reviews.dv reviews.csv --as-collection -o reviews.npy
    """
    kept = keep or []
    with stages("starting") as work, writing_vectors(output, kept):
        from deltavec.io.output.embed_to_file import embed_to_file

        loaded, documents = inputs.open_for_model(model, trust, corpus, files, work)
        held = inputs.rereadable(documents, work) if as_collection else nullcontext(documents)
        with held as source:
            if as_collection:
                work.begin("learning from the collection")
                loaded = loaded.for_collection(inputs.followed(source, work), threads=threads)
            work.begin("embedding")
            progress: Any = {"on_progress": work.report, "on_notice": work.notice}
            written = embed_to_file(loaded, source, output, keep=kept, threads=threads, **progress)
    record = {**vars(written), "dimensions": loaded.dimensions}
    record["output"] = record.pop("path")
    facts = summary(written, loaded.dimensions)
    then = ("index", "build", model, corpus, "-o", model.with_suffix(".idx"))
    print_result(as_json, record, facts, work, saved=written.path, then=then)


def writing_vectors(output: str, keep: list[str]) -> AbstractContextManager[None]:
    """Lock the output; raise an error if it cannot be written."""
    from deltavec.io.artifacts.atomic import only_writer
    from deltavec.io.output.shards import WRITERS, Target
    from deltavec.io.remote import address_of

    path = Path(output)
    if not path.is_dir() and not output.endswith("/"):
        inputs.require_suffix(path, WRITERS)
    if address_of(output):
        return nullcontext()
    target = Target.of(output, keep).path
    inputs.require_folder_of(target)
    return only_writer(target)


def summary(written: Written, dimensions: int) -> dict[str, str]:
    """The facts to print."""
    documents = plural(written.documents, "document")
    if written.resumed_documents:
        documents += f", {written.resumed_documents:,} of them by an earlier run"
    zero = written.zero_rows
    return {
        "documents": documents,
        "zero rows": f"{zero:,} without known words or zero after removal" if zero else "0",
        "dimensions": f"{dimensions}",
    }


ExportFormat = StrEnum("ExportFormat", ["model2vec", "word2vec", "safetensors"])
NumberType = StrEnum("NumberType", ["float32", "float16"])


def export(
    model: Path,
    *,
    output: Path,
    format: ExportFormat = ExportFormat.model2vec,
    dtype: NumberType = NumberType.float32,
    as_json: bool = False,
) -> None:
    """Export a model for other libraries, such as model2vec.

    The vector of a text is then the normalized mean of the rows of its known words, the same as
    `deltavec embed` gives. Models of form delta are more than a table and cannot be exported.

    Parameters
    ----------
    output : FOLDER, -o
        The folder to write.
    format
        model2vec: with a tokenizer, also for sentence-transformers. Others: words and rows.
    dtype
        Number type; float16 takes half the space.

    Examples
    --------
    deltavec export reviews.dv -o reviews-model2vec
    deltavec export reviews.dv --format safetensors --dtype float16 -o reviews-rows
    """
    from deltavec.io.artifacts.model import load
    from deltavec.io.export.export import EXPORT_FOLDER

    with inputs.lock_folder(output, EXPORT_FOLDER):
        exported = load(model).export(output, format.value, dtype=dtype.value)
    record = vars(exported)
    print_result(as_json, {**record, "output": exported.folder}, export_facts(exported))


def export_facts(exported: Exported) -> dict[str, str]:
    """The facts to print."""
    facts = {
        "format": f"{exported.format}, {exported.dtype}",
        "table": f"{plural(exported.words, 'word')}, {exported.dimensions} dimensions",
    }
    if exported.largest_error:
        facts["error"] = f"a row differs by at most {exported.largest_error:.1e} of its length"
    if exported.not_found:
        facts["not found"] = f"{exported.not_found:.2%} of the words: neighbors without spaces"
    return facts | {"saved": str(exported.folder)}
