"""A folder written beside its place and then put there whole.

Whoever is stopped halfway leaves the old folder, or the new one, in place; never half of one. On
Linux the two change places in one step. Elsewhere the old one is renamed first, so that there is an
instant in which neither stands there, though both are on disk beside it.
"""

from __future__ import annotations

import ctypes
import os
import sys
import uuid
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deltavec.io.files import flush_to_disk

# <fcntl.h> and <linux/fs.h>
AT_FDCWD = -100
RENAME_EXCHANGE = 2


@contextmanager
def replacing_folder(target: Path, files: Collection[str]) -> Iterator[Path]:
    """A new folder beside the target, which takes its place if all goes well.

    Parameters
    ----------
    target
        Where the folder shall be. What stands there is replaced; a link is followed.
    files
        The names of the files that may be in it, old or new: nothing else is ever deleted.
    """
    target = target.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    # A name of its own, not one made from the target's, which may be as long as names get.
    beside = target.with_name(f".deltavec-{uuid.uuid4().hex}.part")
    beside.mkdir()
    try:
        yield beside
        flush_to_disk(beside)
        put_in_place(beside, target)
        flush_to_disk(target.parent)
    finally:
        # Failed, it is the new folder that goes; else what stood at the target.
        remove_folder(beside, files)


def put_in_place(fresh: Path, target: Path) -> None:
    """Rename a folder to the target; what stood there has the folder's name afterwards."""
    if not target.exists():
        fresh.rename(target)
    elif not exchanged(fresh, target):
        swap_by_renaming(fresh, target)


def exchanged(a: Path, b: Path) -> bool:
    """Whether two folders have changed places in one step; not every system can do that."""
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    names = AT_FDCWD, os.fsencode(a), AT_FDCWD, os.fsencode(b)
    return rename is not None and rename(*names, RENAME_EXCHANGE) == 0


def swap_by_renaming(fresh: Path, target: Path) -> None:
    """Let two folders change places by way of a third name; if that fails, as it was before."""
    aside = fresh.with_suffix(".old")
    target.rename(aside)
    try:
        fresh.rename(target)
    except OSError:
        aside.rename(target)
        raise
    aside.rename(fresh)


def remove_folder(folder: Path, files: Collection[str]) -> None:
    """Remove a folder that holds these files, if it is there; one that holds others stays."""
    # What is in the way here (a file in use, on Windows) is no reason to call a save failed.
    with suppress(OSError):
        for name in files:
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
