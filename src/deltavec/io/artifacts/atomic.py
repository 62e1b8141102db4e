"""Atomic replacement of files and folders: written beside their path, then renamed.

A process that is stopped halfway leaves the old version or the new one in place. On Linux two
folders are exchanged in one step. Elsewhere the old one is renamed first, so that for an instant
neither has the name, though both are on disk beside it.

A killed process leaves its unfinished file or folder. The next writer to the same path removes it:
the system drops the lock of a process that ended.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from deltavec.io.artifacts.locks import lock_now

# The name of an unfinished file or folder; no part of it comes from the user.
UNFINISHED = r"\.deltavec-[0-9a-f]{32}\.part"
# <fcntl.h> and <linux/fs.h>
AT_FDCWD = -100
RENAME_EXCHANGE = 2


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A new file beside the path, which replaces it if all goes well."""
    path = path.resolve()  # a link stays one
    with live(path, partial(Path.touch, exist_ok=False), Path.unlink) as temporary:
        try:
            yield temporary
            put_in_place(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(target: Path, remove: Callable[[Path], None]) -> Iterator[Path]:
    """A new folder beside the target, which replaces it if all goes well.

    Parameters
    ----------
    target
        The path of the folder; a link is followed.
    remove
        Removes a folder of this kind, old or new, without files that are not part of it.
    """
    target = target.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    with live(target, Path.mkdir, remove) as beside:
        try:
            yield beside
            flush_to_disk(beside)
            put_folder_in_place(beside, target)
            flush_to_disk(target.parent)
        finally:
            # The new folder if this failed, otherwise the old one.
            remove(beside)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A private folder for temporary files, removed at the end."""
    place = Path(tempfile.gettempdir()).resolve() / "scratch"
    with live(place, partial(Path.mkdir, mode=0o700), shutil.rmtree) as folder:
        try:
            yield folder
        finally:
            shutil.rmtree(folder)


def unfinished(path: Path) -> Path:
    """A new temporary name beside the path, of bounded length."""
    return path.with_name(f".deltavec-{kind_of_name(path)}{secrets.token_hex(8)}.part")


def kind_of_name(path: Path) -> str:
    """A prefix that identifies this path's temporary files."""
    return hashlib.sha256(os.fsencode(path.name)).hexdigest()[:16]


@contextmanager
def live(
    path: Path, make: Callable[[Path], object], remove: Callable[[Path], None]
) -> Iterator[Path]:
    """A new file or folder beside the path, locked while the context lasts.

    What killed processes left beside the path is removed first.
    """
    remove_leftovers(path, remove)
    while True:
        beside = unfinished(path)
        make(beside)
        if os.name == "nt":  # what is open cannot be renamed there
            yield beside
            return
        handle = os.open(beside, os.O_RDONLY)
        try:
            with suppress(OSError):  # a file system without locks: leftovers stay
                lock_now(handle)
            if beside.exists():
                yield beside
                return
            # Another process removed it before it was locked: once more.
        finally:
            os.close(handle)


def remove_leftovers(path: Path, remove: Callable[[Path], None]) -> None:
    """Remove unfinished files beside the path that no process has locked any more."""
    if os.name == "nt":
        return
    ours = re.compile(rf"\.deltavec-{kind_of_name(path)}[0-9a-f]{{16}}\.part")
    for entry in [entry for entry in path.parent.iterdir() if ours.fullmatch(entry.name)]:
        with suppress(OSError):  # alive, another user's, or no locks here
            # Not to be led elsewhere by a link, nor kept waiting by a pipe.
            handle = os.open(entry, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                lock_now(handle)
                found = os.fstat(handle)
                is_usual = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
                if is_usual and found.st_uid == os.geteuid():
                    remove(entry)
            finally:
                os.close(handle)


def put_in_place(temporary: Path, path: Path) -> None:
    """Give a finished file its name, once it is on disk."""
    flush_to_disk(temporary)
    temporary.replace(path)
    flush_to_disk(path.parent)


def flush_to_disk(path: Path) -> None:
    """Wait until the file or folder is on disk, where the system can tell."""
    if os.name == "nt" and path.is_dir():  # Windows cannot open a folder
        return
    # Windows flushes only what may be written to.
    handle = os.open(path, os.O_RDWR if os.name == "nt" else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class OnDisk(NamedTuple):
    """The size of a file, and the checksum of its content."""

    bytes: int
    sha256: str


def on_disk(path: Path) -> OnDisk:
    """What was written to a file, once it is on disk."""
    flush_to_disk(path)
    with path.open("rb") as file:
        return OnDisk(os.fstat(file.fileno()).st_size, sha256(file))


def sha256(file: BinaryIO, begin: int = 0) -> str:
    """The checksum of a file from a place on, read in pieces."""
    file.seek(begin)
    digest = hashlib.sha256()
    while piece := file.read(1 << 20):
        digest.update(piece)
    return digest.hexdigest()


def put_folder_in_place(fresh: Path, target: Path) -> None:
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
