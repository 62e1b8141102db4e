"""A file written beside its place and then put there whole: no half of one is ever seen."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary name beside the path, which takes the path's place if all goes well."""
    path = path.resolve()  # a link stays one
    # A name of its own, not one made from the path's, which may be as long as names get.
    temporary = path.with_name(f".deltavec-{uuid.uuid4().hex}.part")
    try:
        yield temporary
        put_in_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def put_in_place(temporary: Path, path: Path) -> None:
    """Give a finished file its name, once it is on disk."""
    flush_to_disk(temporary)
    temporary.replace(path)
    flush_to_disk(path.parent)


def flush_to_disk(path: Path) -> None:
    """Wait until the file or folder is on disk, where the system can tell."""
    if os.name == "nt" and path.is_dir():  # Windows cannot open a folder
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
