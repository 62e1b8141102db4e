"""``deltavec info`` and ``warm``: what a model or a collection is; compile everything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from deltavec.cli.printing import collection_facts, print_result, share, size
from deltavec.cli.progress import stages

MAIN = (
    "recipe", "documents", "words", "dimensions", "coverage", "mean_length", "units", "tokenizer",
    "table_bytes", "fingerprint",
)  # fmt: skip


def info(model: Path, *, verbose: bool = False, as_json: bool = False) -> None:
    """Show facts about a model or a collection.

    For a collection also how much of the added text the model knows, and whether a new fit is due.
    Verifies all checksums.

    Parameters
    ----------
    model : MODEL.dv
        What `deltavec fit` wrote, or a collection of `deltavec index build`.
    verbose
        Show everything that is known of a model.

    Examples
    --------
    deltavec info reviews.dv
    """
    if (model / "collection.json").is_file():
        from deltavec.collection.open import open_collection

        found = open_collection(model).info()
        kind, facts = "collection", collection_facts(found)
        then: tuple[object, ...] = ("serve", model, "--open")
        if found["refit_due"]:
            then = ("index", "refit", model)
    else:
        from deltavec.io.artifacts.model import load

        found = load(model).info()
        shown = found if verbose else {name: found[name] for name in MAIN}
        kind, facts = "model", model_facts(shown)
        then = ("index", "build", model, "CORPUS", "-o", str(model.with_suffix(".idx")))
    print_result(as_json, {kind: model, **found}, {kind: str(model), **facts}, then=then)


def model_facts(found: Mapping[str, Any]) -> dict[str, str]:
    """The facts with names and values for people."""
    shown = {name.replace("_", " "): readable_value(value) for name, value in found.items()}
    return shown | {
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


def warm(*, as_json: bool = False) -> None:
    """Compile everything now, for instance in a container image.

    The machine code is kept in NUMBA_CACHE_DIR if that is set, else beside the package or in your
    cache folder. Run it once when you build a container image.

    Examples
    --------
    deltavec warm
    """
    with stages("loading the compiler") as work:
        from deltavec.collection.warm import compile_all
        from deltavec.core.jit import BUDGET, cache_folder

        compile_all(work.begin)
        folder = cache_folder()
    kept = str(folder) if folder else "nowhere: no folder can be written"
    found = {"kernels": BUDGET.compiled, "seconds": work.seconds, "folder": folder and str(folder)}
    shown = {"compiled": f"{BUDGET.compiled:,} kernels in {work.seconds:.1f} s", "kept in": kept}
    print_result(as_json, found, shown)
