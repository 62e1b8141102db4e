"""What an index is besides its files, as JSON that notices when a byte of it has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from deltavec.core.search_kernels import MOST_DIMENSIONS
from deltavec.errors import InputError, ModelError
from deltavec.io import model_description
from deltavec.io.model_description import (
    LARGEST_COUNT,
    LONGEST,
    NO_CHECKSUM,
    SEAL,
    parsed,
    require_types,
)
from deltavec.search.graph import LARGEST_EXPANSION, Graph
from deltavec.search.ids import NUMBERS, STRINGS, Ids
from deltavec.search.rows import LARGEST_ERROR, Pieces
from deltavec.version import __version__

__all__ = ["FORMAT", "LONGEST", "MARK", "VERSION", "described", "sealed", "unsealed"]

FORMAT = "deltavec index"
VERSION = 1
MARK = b'"format": "deltavec index"'

ENTRIES: dict[str, type[Any]] = {
    "format": str,
    "format_version": int,
    "library_version": str,
    "rows": int,
    "dimensions": int,
    "length_error": float,
    "id_kind": str,
    "ids_given": bool,
    "following": int,
    "graph": dict,
    "recall": dict,
    "files": dict,
}
GRAPH: dict[str, type[Any]] = {"expansion": int, "following": int}
RECALL: dict[str, type[Any]] = {"k": int, "queries": int, "share": float}
RANGES = {
    "rows": (0, LARGEST_COUNT),
    "dimensions": (1, MOST_DIMENSIONS),
    "length_error": (0, LARGEST_ERROR),
    "following": (0, LARGEST_COUNT),
    "expansion": (1, LARGEST_EXPANSION),
    "k": (1, LARGEST_COUNT),
    "queries": (1, LARGEST_COUNT),
    "share": (0, 1),
}
FILE: dict[str, type[Any]] = {"bytes": int, "sha256": str}
# With the graph come the keys of its rows, which stand beside their ids.
SETS_OF_FILES = (
    {"vectors.npy"},
    {"vectors.npy", "ids.arrow"},
    {"vectors.npy", "ids.arrow", "graph.usearch"},
)


def described(
    pieces: Pieces,
    ids: Ids,
    graph: Graph | None,
    recall: Mapping[str, Any],
    files: Mapping[str, Any],
) -> dict[str, Any]:
    """The entries for an index."""
    return {
        "format": FORMAT,
        "format_version": VERSION,
        "library_version": __version__,
        "rows": len(pieces),
        "dimensions": pieces.dimensions,
        "length_error": float(pieces.length_error),
        "id_kind": ids.kind,
        "ids_given": ids.given,
        "following": ids.following,
        "graph": {"expansion": graph.expansion, "following": graph.following} if graph else {},
        "recall": dict(recall),
        "files": dict(files),
    }


sealed = model_description.sealed


def unsealed(data: bytes) -> dict[str, Any]:
    """The entries of a description that is whole, of this format, and of a version we know."""
    seal = SEAL.match(data)
    if seal is None or len(data) > LONGEST:
        raise InputError("the first line is not a checksum: damaged, or not a deltavec index")
    blank = data[: seal.start(1)] + NO_CHECKSUM + data[seal.end(1) :]
    if hashlib.sha256(blank).hexdigest().encode() != seal[1]:
        raise InputError("the content does not have its checksum: the file is damaged")
    entries = parsed(data)
    require_known_version(entries)
    del entries["checksum"]
    require_sound(entries)
    return entries


def require_known_version(entries: Mapping[str, Any]) -> None:
    """Refuse what is no index, and what only a newer deltavec can read."""
    if entries.get("format") != FORMAT:
        raise InputError(f"expected the format {FORMAT!r}, got {entries.get('format')!r:.60}")
    version = entries.get("format_version")
    if type(version) is not int or version < 1:
        raise InputError(f"expected a format version from 1 on, got {version!r:.60}")
    if version > VERSION:
        raise InputError(
            f"written by a newer deltavec, in version {version!r:.60} of the format; this one "
            f"reads up to version {VERSION}: upgrade deltavec"
        )


def require_sound(entries: Mapping[str, Any]) -> None:
    """Refuse entries that are missing, unknown, of the wrong type or out of range."""
    try:
        require_types(entries, ENTRIES)
        for file in entries["files"].values():
            require_types(file if isinstance(file, dict) else {}, FILE)
        require_types(entries["graph"], GRAPH if "graph.usearch" in entries["files"] else {})
        require_types(entries["recall"], RECALL if entries["recall"] else {})
    except ModelError as error:
        raise InputError(str(error)) from None
    if set(entries["files"]) not in SETS_OF_FILES:
        names = ", ".join(entries["files"])
        raise InputError(f"files must be those of an index, got {names:.100}")
    if entries["id_kind"] not in (NUMBERS, STRINGS):
        raise InputError(f"id_kind must be {NUMBERS} or {STRINGS}, got {entries['id_kind']!r:.60}")
    if entries["id_kind"] == STRINGS and not entries["ids_given"]:
        raise InputError("ids that are strings must be given")
    for numbers in (entries, entries["graph"], entries["recall"]):
        for name in numbers.keys() & RANGES.keys():
            (smallest, largest), value = RANGES[name], numbers[name]
            if not smallest <= value <= largest:
                raise InputError(f"{name} must be from {smallest} to {largest}, got {value!r:.60}")
