"""Folders of an index, changed by hand so that checksums are right all the same."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from deltavec.io.artifacts.manifest import with_checksum


def entries_of(folder: Path) -> dict[str, Any]:
    """What the description says, without its checksum."""
    entries = json.loads((folder / "index.json").read_text())
    del entries["checksum"]
    return entries


def with_file(folder: Path, name: str, content: bytes) -> None:
    """Write a file, and a description that has its checksum: what only people do."""
    (folder / name).write_bytes(content)
    entries = entries_of(folder)
    entries["files"][name] = {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    (folder / "index.json").write_bytes(with_checksum(entries))
