"""``deltavec info``: what a model or a collection is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from deltavec.cli import options
from deltavec.cli.printing import counted, print_facts, print_json, reason, share, size

EXAMPLES = ("deltavec info reviews.dv",)


def info(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL.dv",
            show_default=False,
            help="What `deltavec fit` wrote, or a collection of `deltavec index build`.",
        ),
    ],
    as_json: options.AsJson = False,
) -> None:
    """Show what a model or a collection is: recipe and why, sizes, coverage.

    Of a collection also how well the model knows what was added to it, and whether it should be
    fitted anew. Everything is read once, and what was changed or cut short is refused.
    """
    if (model / "collection.json").is_file():
        collection_info(model, as_json)
        return
    from deltavec.io.storage import load

    found = load(model).info()
    if as_json:
        print_json({"model": model, **found})
        return
    print_facts({"model": str(model)} | readable(found))


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


def collection_info(folder: Path, as_json: bool) -> None:
    """Show what a collection is."""
    from deltavec.collection import open_collection

    found = open_collection(folder).info()
    if as_json:
        print_json({"collection": folder, **found})
        return
    print_facts({"collection": str(folder)} | readable_collection(found))


def readable_collection(found: Mapping[str, Any]) -> dict[str, str]:
    """The facts of a collection with names and values for people."""
    built, added = found["documents_built"], found["documents_added"]
    adapted = "adapted to the collection" if found["model_adapted"] else "as it was fitted"
    facts = {
        "documents": f"{built:,} built, {added:,} added in {counted(found['additions'], 'step')}",
        "without vector": f"{found['documents_without_vector']:,}",
        "ids": found["ids"],
        "columns": ", ".join(f"{name} ({kind})" for name, kind in found["columns"].items()),
        "model": f"{found['recipe']}, {found['dimensions']} dimensions, {adapted}",
        "fingerprint": found["fingerprint"],
        "size": f"{size(found['vector_bytes'])} vectors, {size(found['document_bytes'])} documents",
        "coverage at fit": known(found["coverage_at_fit"]),
        "of the collection": known(found["coverage_built"]),
        "of additions": known(found["coverage_added"]),
        "refit": f"due: {found['refit_reason']}" if found["refit_due"] else "not due",
    }
    return {name: value or "none" for name, value in facts.items()}


def known(coverage: float | None) -> str:
    """A coverage for people."""
    return "no words" if coverage is None else f"{share(coverage)} of the words are known"
