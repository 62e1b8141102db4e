"""``deltavec export``: a model for other libraries."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deltavec.cli import options
from deltavec.cli.outputs import writing_export
from deltavec.cli.printing import counted, print_result

if TYPE_CHECKING:
    from deltavec.io.export.export import Exported

EXAMPLES = (
    "deltavec export reviews.dv -o reviews-model2vec",
    "deltavec export reviews.dv --format npy --dtype float16 -o reviews-rows",
)
ExportFormat = StrEnum("ExportFormat", ["model2vec", "word2vec", "safetensors", "npy"])
NumberType = StrEnum("NumberType", ["float32", "float16"])


def export(
    model: options.Model,
    output: Annotated[Path, options.output("FOLDER", "The folder to write.")],
    format: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="model2vec: for model2vec and sentence-transformers, with a tokenizer. word2vec, "
            "safetensors, npy: a table of the words and their rows.",
        ),
    ] = ExportFormat.model2vec,
    dtype: Annotated[
        NumberType,
        typer.Option("--dtype", help="The type of the numbers; float16 is half as large."),
    ] = NumberType.float32,
    as_json: options.AsJson = False,
) -> None:
    """Write a model in a format that other libraries load, without deltavec.

    The vector of a text is then the mean of the rows of its known words, scaled to length 1: the
    same as `deltavec embed` gives. Models of form delta are more than a table, and are refused.
    """
    with writing_export(output):
        from deltavec.io.artifacts.model import load

        exported = load(model).export(output, format.value, dtype=dtype.value)
    record = {
        "output": exported.folder,
        "format": exported.format,
        "dtype": exported.dtype,
        "words": exported.words,
        "dimensions": exported.dimensions,
        "largest_error": exported.largest_error,
        "not_found": exported.not_found,
    }
    print_result(as_json, record, summary(exported))


def summary(exported: Exported) -> dict[str, str]:
    """What was written, in a few lines."""
    facts = {
        "format": f"{exported.format}, {exported.dtype}",
        "table": f"{counted(exported.words, 'word')}, {exported.dimensions} dimensions",
    }
    if exported.largest_error:
        facts["error"] = f"a row differs by at most {exported.largest_error:.1e} of its length"
    if exported.not_found:
        facts["not found"] = (
            f"{exported.not_found:.2%} of the words counted at the fit: pairs of neighbours in "
            "scripts without spaces"
        )
    return facts | {"saved": str(exported.folder)}
