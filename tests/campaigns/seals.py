"""Folders of deltavec's with their checksums computed anew, as whoever means harm would."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from typing import Any

from deltavec.collection.segment import HEADER_BYTES
from deltavec.io.artifacts.manifest import NO_CHECKSUM

Files = dict[str, bytes]


def entries_of(data: bytes) -> Any:
    """What a description says."""
    entries = json.loads(data)
    entries.pop("checksum", None)
    return entries


def sealed(entries: Any) -> bytes:
    """A description, whatever it says, with the checksum that it must have."""
    if not isinstance(entries, dict):
        return json.dumps(entries).encode()
    blank = json.dumps({"checksum": NO_CHECKSUM.decode(), **entries}, indent=2).encode() + b"\n"
    return blank.replace(NO_CHECKSUM, digest(blank).encode(), 1)


def digest(data: bytes) -> str:
    """The SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


def seal_model(files: Files, folder: str = "") -> None:
    """Give the files of a model their checksums, as far as there is still a place for them."""
    name = f"{folder}model.json"
    with suppress(ValueError, TypeError, AttributeError):
        entries = entries_of(files[name])
        tensors = files[f"{folder}model.safetensors"]
        entries["tensor_sha256"] = digest(tensors)
        files[name] = sealed(entries)


def seal_collection(files: Files) -> None:
    """Give the files of a collection their sizes and checksums."""
    seal_model(files, "model.dv/")
    with suppress(ValueError, TypeError, AttributeError, KeyError):
        entries = entries_of(files["collection.json"])
        for stated in (entries["vectors"], entries["words"], *entries["segments"]):
            data = files.get(stated.get("name", ""))
            if data is not None:
                begin = HEADER_BYTES if stated["name"].startswith("vectors") else 0
                stated |= {"bytes": len(data), "sha256": digest(data[begin:])}
        files["collection.json"] = sealed(entries)
