"""What a model is besides its arrays: the entries of its description, and where each array is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import DEFAULTS, Recipe
from deltavec.errors import ModelError
from deltavec.io.artifacts.manifest import LARGEST_COUNT, require_ranges, require_types
from deltavec.io.artifacts.tensors import Layout, layout

SMALLEST_RATIO = 1e-9
MEASURED = ("signal", "deflation")
LARGEST_NUMBER = 1e9  # weights are below a hundred; sums of such numbers cannot overflow

RECIPE: dict[str, type[Any]] = {
    name: int if default is None else type(default) for name, default in DEFAULTS.items()
}
ENTRIES: dict[str, type[Any]] = {
    "recipe": dict,
    "reason": str,
    "tokenizer": str,
    "notes": dict,
    "documents": int,
    "unknown_documents": int,
    "tokens": int,
    "offset_norm": float,
    "length_ratio": float,
    "words": int,
    "word_bytes": int,
    "dimensions": int,
    "components_removed": int,
    "measured_dimensions": int,
    "tensor_bytes": int,
    "tensor_sha256": str,
}


def model_layout(entries: Mapping[str, Any]) -> Layout:
    """Where each array of a model stands in its file, by the sizes that its description tells."""
    words, dimensions = entries["words"], entries["dimensions"]
    removed, measured = entries["components_removed"], entries["measured_dimensions"]
    covariances = {name: ("F64", (measured, measured)) for name in MEASURED if measured}
    shapes = {
        "token_counts": ("I64", (words,)),
        "document_counts": ("I64", (words,)),
        "word_offsets": ("I64", (words + 1,)),
        "penalties": ("F64", (words,)),
        "offset": ("F64", (dimensions,)),
        "spectrum": ("F64", (dimensions,)),
        "components": ("F64", (removed, dimensions)),
        "offset_coordinates": ("F64", (removed,)),
        **covariances,
        "rows": ("F32", (words, dimensions)),
        "norms": ("F32", (words,)),
        "coordinates": ("F32", (words, removed)),
        "words": ("U8", (entries["word_bytes"],)),
    }
    return layout("deltavec model", shapes, aligned="rows")


def description(model: EmbeddingModel) -> dict[str, Any]:
    """The entries for a model, but for the checksum of its arrays, which is empty."""
    removed, dimensions = model.folded.components.shape
    entries = {
        "recipe": {name: RECIPE[name](value or 0) for name, value in model.recipe.entries.items()},
        "reason": model.reason,
        "tokenizer": getattr(model.tokenizer, "stored", model.tokenizer),
        "notes": dict(model.notes),
        "documents": int(model.statistics.documents),
        "unknown_documents": int(model.statistics.unknown_documents),
        "tokens": int(model.statistics.tokens),
        "offset_norm": float(model.folded.offset_norm),
        "length_ratio": float(model.folded.length_ratio),
        "words": len(model.vocabulary),
        "dimensions": dimensions,
        "components_removed": removed,
        "word_bytes": len(model.vocabulary.data),
        "measured_dimensions": len(model.folded.signal),
    }
    return {**entries, "tensor_bytes": model_layout(entries).size, "tensor_sha256": ""}


def require_sound(entries: Mapping[str, Any]) -> None:
    """Refuse entries that are missing, unknown, of the wrong type or out of range."""
    require_types(entries, ENTRIES)
    # A recipe may have been stored before it had all its parameters.
    require_types({name: kind() for name, kind in RECIPE.items()} | entries["recipe"], RECIPE)
    for key, value in entries["notes"].items():
        if type(value) is not str:
            raise ModelError(f"the note {key!r:.60} must be a string, got {value!r:.60}")
    ranges = {
        "documents": (1, LARGEST_COUNT),
        "unknown_documents": (0, entries["documents"]),
        "tokens": (1, LARGEST_COUNT),
        "words": (1, LARGEST_COUNT),
        "word_bytes": (0, LARGEST_COUNT),
        "dimensions": (1, LARGEST_COUNT),
        "components_removed": (0, entries["dimensions"]),
        "measured_dimensions": (0, entries["dimensions"]),
        "offset_norm": (0, LARGEST_NUMBER),
        "length_ratio": (SMALLEST_RATIO, LARGEST_NUMBER),
    }
    require_ranges(entries, ranges)
    expected = model_layout(entries).size
    if entries["tensor_bytes"] != expected:
        raise ModelError(f"tensor_bytes must be {expected}, got {entries['tensor_bytes']!r:.60}")


def stored_recipe(entries: Mapping[str, Any]) -> Recipe:
    """The recipe, its form settled."""
    values = entries["recipe"].items()
    # A number that was left open is stored as 0.
    recipe = Recipe.stored({k: v or None if DEFAULTS[k] is None else v for k, v in values})
    if recipe.form == "auto":
        raise ModelError("the form of a fitted model is settled, got 'auto'")
    if entries["components_removed"] > recipe.n_components_removed:
        raise ModelError(
            f"the recipe removes {recipe.n_components_removed} components, "
            f"the table lacks {entries['components_removed']}"
        )
    return recipe
