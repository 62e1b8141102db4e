"""``deltavec info``: what a model or a collection is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deltavec.cli import options
from deltavec.cli.printing import (
    counted,
    coverage_line,
    map_line,
    model_line,
    print_result,
    reason,
    refit_line,
    share,
    size,
    words_line,
)

EXAMPLES = ("deltavec info reviews.dv",)


def info(
    model: Path = options.argument(
        "MODEL.dv", "What `deltavec fit` wrote, or a collection of `deltavec index build`."
    ),
    as_json: options.AsJson = False,
) -> None:
    """Show recipe, sizes and coverage of a model or a collection.

    For a collection also how much of the added text the model knows, and whether a new fit is due.
    Verifies all checksums.
    """
    if (model / "collection.json").is_file():
        from deltavec.collection import open_collection

        found, kind, shown = open_collection(model).info(), "collection", readable_collection
    else:
        from deltavec.io.artifacts.model import load

        found, kind, shown = load(model).info(), "model", readable
    print_result(as_json, {kind: model, **found}, {kind: str(model)} | shown(found))


def readable(found: Mapping[str, Any]) -> dict[str, str]:
    """The facts with names and values for people."""
    shown = {name.replace("_", " "): readable_value(value) for name, value in found.items()}
    return shown | {
        "reason": reason(found),
        "coverage": f"{share(found['coverage'])} of the corpus' words are known",
        "table bytes": size(found["table_bytes"]),
    }


def readable_value(value: object) -> str:
    """A value as people write it."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} = {one:g}" for key, one in value.items() if one is not None)
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def readable_collection(found: Mapping[str, Any]) -> dict[str, str]:
    """The facts of a collection with names and values for people."""
    built, added = found["documents_built"], found["documents_added"]
    removed = found["documents_removed"]
    facts = {
        "documents": f"{built:,} built, {added:,} added in {counted(found['additions'], 'step')}"
        + (f"; {removed:,} were removed or replaced" if removed else ""),
        "without vector": f"{found['documents_without_vector']:,}",
        "ids": found["ids"],
        "columns": ", ".join(f"{name} ({kind})" for name, kind in found["columns"].items()),
        "model": model_line(found),
        "fingerprint": found["fingerprint"],
        "size": f"{size(found['vector_bytes'])} vectors, {size(found['document_bytes'])} documents",
        "words": words_line(found),
        "map": map_line(found),
        "coverage at fit": coverage_line(found["coverage_at_fit"]),
        "of the collection": coverage_line(found["coverage_built"]),
        "of additions": coverage_line(found["coverage_added"]),
        "refit": refit_line(found),
    }
    return {name: value or "none" for name, value in facts.items()}
