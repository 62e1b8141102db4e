"""What a model is besides its arrays, as JSON that notices when a byte of it has changed.

The first entry is the SHA-256 of the file itself, taken with sixty-four zeros in its own place. It
guards against accidents, not against people: who means harm can compute it anew, so every value is
looked at as well.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from deltavec.core.model import EmbeddingModel
from deltavec.core.recipes import Recipe
from deltavec.errors import ModelError
from deltavec.io.model_tensors import Sizes, file_size, layout
from deltavec.version import __version__

FORMAT = "deltavec model"
VERSION = 1
LONGEST = 1 << 20  # bytes; a real one has about a thousand
LARGEST_COUNT = 1 << 53  # above it JSON readers that know only float64 lose digits
SMALLEST_RATIO = 1e-9
LARGEST_NUMBER = 1e9  # weights are below a hundred; sums of such numbers cannot overflow

RECIPE: dict[str, type[Any]] = {
    "weighting": str,
    "form": str,
    "n_components_removed": int,
    "a": float,
    "t": float,
    "min_frequency": float,
    "dimensions": int,
    "window": int,
    "context_smoothing": float,
    "identity_share": float,
    "spectrum_exponent": float,
    "power_iterations": int,
}
ENTRIES: dict[str, type[Any]] = {
    "format": str,
    "format_version": int,
    "library_version": str,
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
    "tensor_bytes": int,
    "tensor_sha256": str,
}
KINDS = {str: "a string", int: "a whole number", float: "a finite number", dict: "an object"}

NO_CHECKSUM = b"0" * 64
SEAL = re.compile(rb'\{\n  "checksum": "([0-9a-f]{64})"')
MARK = b'"format": "deltavec model"'


def sizes_of(model: EmbeddingModel) -> Sizes:
    """The numbers that the layout of a model's arrays follows from."""
    removed, dimensions = model.folded.components.shape
    return Sizes(len(model.vocabulary), dimensions, removed, len(model.vocabulary.data))


def description(model: EmbeddingModel) -> dict[str, Any]:
    """The entries for a model, but for the checksum of its arrays, which is empty."""
    sizes = sizes_of(model)
    return {
        "format": FORMAT,
        "format_version": VERSION,
        "library_version": __version__,
        "recipe": {name: kind(getattr(model.recipe, name) or 0) for name, kind in RECIPE.items()},
        "reason": model.reason,
        "tokenizer": model.tokenizer,
        "notes": dict(model.notes),
        "documents": int(model.statistics.documents),
        "unknown_documents": int(model.statistics.unknown_documents),
        "tokens": int(model.statistics.tokens),
        "offset_norm": float(model.folded.offset_norm),
        "length_ratio": float(model.folded.length_ratio),
        **sizes._asdict(),
        "tensor_bytes": file_size(layout(sizes)),
        "tensor_sha256": "",
    }


def sealed(entries: Mapping[str, Any]) -> bytes:
    """The entries as JSON with its own checksum; floats keep all their digits."""
    content = {"checksum": NO_CHECKSUM.decode(), **entries}
    blank = json.dumps(content, indent=2, allow_nan=False).encode() + b"\n"
    if len(blank) > LONGEST:
        raise ModelError(f"the notes are too long: a description has at most {LONGEST:,} bytes")
    return blank.replace(NO_CHECKSUM, hashlib.sha256(blank).hexdigest().encode(), 1)


def unsealed(data: bytes) -> dict[str, Any]:
    """The entries of a description that is whole, of this format, and of a version we know."""
    if len(data) > LONGEST:
        raise ModelError(f"expected at most {LONGEST:,} bytes: this is not a deltavec model")
    seal = SEAL.match(data)
    if seal is None:
        raise ModelError("the first line is not a checksum: damaged, or not a deltavec model")
    blank = data[: seal.start(1)] + NO_CHECKSUM + data[seal.end(1) :]
    if hashlib.sha256(blank).hexdigest().encode() != seal[1]:
        raise ModelError("the content does not have its checksum: the file is damaged")
    entries = parsed(data)
    require_known_version(entries)
    del entries["checksum"]
    require_sound(entries)
    return entries


def parsed(data: bytes) -> dict[str, Any]:
    """The JSON object in these bytes."""
    try:
        entries = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise ModelError(f"expected JSON: {error}") from None
    assert isinstance(entries, dict)  # it begins with a brace, as the seal does
    return entries


def require_known_version(entries: Mapping[str, Any]) -> None:
    """Refuse what is no model, and what only a newer deltavec can read."""
    if entries.get("format") != FORMAT:
        raise ModelError(f"expected the format {FORMAT!r}, got {entries.get('format')!r:.60}")
    version = entries.get("format_version")
    if type(version) is not int or version < 1:
        raise ModelError(f"expected a format version from 1 on, got {version!r:.60}")
    if version > VERSION:
        raise ModelError(
            f"written by a newer deltavec, in version {version!r:.60} of the format; this one "
            f"reads up to version {VERSION}: upgrade deltavec"
        )


def require_sound(entries: Mapping[str, Any]) -> None:
    """Refuse entries that are missing, unknown, of the wrong type or out of range."""
    require_types(entries, ENTRIES)
    require_types(entries["recipe"], RECIPE)
    for key, value in entries["notes"].items():
        if type(value) is not str:
            raise ModelError(f"the note {key!r:.60} must be a string, got {value!r:.60}")
    documents = entries["documents"]
    for name, smallest, largest in (
        ("documents", 1, LARGEST_COUNT),
        ("unknown_documents", 0, documents),
        ("tokens", 1, LARGEST_COUNT),
        ("words", 1, LARGEST_COUNT),
        ("word_bytes", 0, LARGEST_COUNT),
        ("dimensions", 1, LARGEST_COUNT),
        ("components_removed", 0, entries["dimensions"]),
        ("offset_norm", 0, LARGEST_NUMBER),
        ("length_ratio", SMALLEST_RATIO, LARGEST_NUMBER),
    ):
        value = entries[name]
        if not smallest <= value <= largest:
            raise ModelError(f"{name} must be from {smallest} to {largest}, got {value!r:.60}")
    expected = file_size(layout(stored_sizes(entries)))
    if entries["tensor_bytes"] != expected:
        raise ModelError(f"tensor_bytes must be {expected}, got {entries['tensor_bytes']!r:.60}")


def require_types(entries: Mapping[str, Any], kinds: Mapping[str, type[Any]]) -> None:
    """Refuse an object that does not have just these entries, of these types."""
    if odd := sorted(entries.keys() ^ kinds.keys()):
        what = "is missing" if odd[0] in kinds else "is unknown"
        raise ModelError(f"the entry {odd[0]!r:.60} {what}")
    for name, kind in kinds.items():
        value = entries[name]
        if type(value) is not kind or (kind is float and not math.isfinite(value)):
            raise ModelError(f"{name} must be {KINDS[kind]}, got {value!r:.60}")


def stored_sizes(entries: Mapping[str, Any]) -> Sizes:
    """The numbers that the layout of the arrays follows from."""
    return Sizes(*(entries[name] for name in Sizes._fields))


def stored_recipe(entries: Mapping[str, Any]) -> Recipe:
    """The recipe, its form settled."""
    recipe = Recipe(**{**entries["recipe"], "window": entries["recipe"]["window"] or None})
    if recipe.form == "auto":
        raise ModelError("the form of a fitted model is settled, got 'auto'")
    if entries["components_removed"] > recipe.n_components_removed:
        raise ModelError(
            f"the recipe removes {recipe.n_components_removed} components, "
            f"the table lacks {entries['components_removed']}"
        )
    return recipe
