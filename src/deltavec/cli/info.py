"""``deltavec info``: what a model is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deltavec.cli import options
from deltavec.cli.printing import print_facts, print_json, reason, share, size

EXAMPLES = ("deltavec info reviews.dv",)


def info(model: options.Model, as_json: options.AsJson = False) -> None:
    """Show what a model is: recipe and why, sizes, coverage."""
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
        return ", ".join(f"{key} = {one:g}" for key, one in value.items())
    if isinstance(value, float):
        return f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
