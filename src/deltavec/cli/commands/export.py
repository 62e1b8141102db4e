"""``deltavec export``: a model for other libraries."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from deltavec.cli.outputs import lock_folder
from deltavec.cli.printing import plural, print_result

if TYPE_CHECKING:
    from deltavec.io.export.export import Exported

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

    with lock_folder(output, EXPORT_FOLDER):
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
    """The facts to print."""
    facts = {
        "format": f"{exported.format}, {exported.dtype}",
        "table": f"{plural(exported.words, 'word')}, {exported.dimensions} dimensions",
    }
    if exported.largest_error:
        facts["error"] = f"a row differs by at most {exported.largest_error:.1e} of its length"
    if exported.not_found:
        facts["not found"] = (
            f"{exported.not_found:.2%} of the words counted at the fit: pairs of neighbors in "
            "scripts without spaces"
        )
    return facts | {"saved": str(exported.folder)}
