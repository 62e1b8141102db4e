"""Locks, and atomic replacement of files and folders: written beside their path, then renamed.

A process that is stopped halfway leaves the old version or the new one in place. On Linux two
folders are exchanged in one step. Elsewhere the old one is renamed first, so that for an instant
neither has the name, though both are on disk beside it.

A killed process leaves its unfinished file or folder. The next writer to the same path removes it:
the system drops the lock of a process that ended.

The lock of an output is a hidden file beside it, locked by the operating system while the process
lives. After a kill the file may be left, but it is not locked, and the next writer takes it over.

Unfinished work that is to survive lies in a private folder. Where other users may write, one of
them could put a link there under a name that deltavec will write, and so have another file
overwritten; so what is there already is checked before it is used.
"""

from __future__ import annotations

import ctypes
import errno
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

from deltavec.errors import InputError


@contextmanager
def only_writer(output: Path) -> Iterator[None]:
    """Lock an output for writing.

    Raises
    ------
    InputError
        At once, if another process is writing to it.
    """
    output = output.resolve()
    # Not made from the name itself, which may be as long as names get.
    digest = hashlib.sha256(os.fsencode(output.name)).hexdigest()[:32]
    lock = output.with_name(f".deltavec-{digest}.lock")
    try:
        handle = held(lock)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.EACCES) or not os.path.lexists(lock):
            raise
        whose = f"{lock} is a link, or another user's; remove it if no process is writing"
        raise InputError(f"{output}: cannot lock it: {whose}, or name another output") from None
    if handle is None:
        raise InputError(
            f"{output}: another process is writing to it; wait, or name another output"
        )
    try:
        yield
    finally:
        if os.name == "nt":  # an open file cannot be removed there
            os.close(handle)
            with suppress(OSError):
                lock.unlink()
        else:
            lock.unlink(missing_ok=True)
            os.close(handle)


def held(lock: Path) -> int | None:
    """The open file of a lock that was acquired; None if another process holds it."""
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        try:
            lock_now(handle)
        except (BlockingIOError, PermissionError):
            os.close(handle)
            return None
        except OSError:  # a file system without locks
            return handle
        # The process that had it before may have removed the file between the two steps.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), lock.stat()):
                return handle
        os.close(handle)


def lock_now(handle: int) -> None:
    """Lock an open file, or raise OSError."""
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


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


ONLY_OURS = 0o700
MOVE_AWAY = "another user may have put it there: look at it, and move it away"


def own_folder(folder: Path) -> tuple[int, int]:
    """Create a private folder, or check the one that is there; its device and inode numbers.

    Raises
    ------
    InputError
        If it is a link or belongs to another user, or something in it is a link, a
        folder, or another user's.
    """
    with suppress(FileExistsError):
        folder.mkdir(ONLY_OURS)
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        raise InputError(f"{folder} is a link, expected a folder: {MOVE_AWAY}")
    if not stat.S_ISDIR(found.st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "expected a folder, found a file", str(folder))
    ours = owner_of_what_we_make(folder)
    if found.st_uid != ours:
        raise InputError(f"{folder} belongs to another user: {MOVE_AWAY}")
    # File systems without modes refuse; they have no users to keep out either.
    with suppress(PermissionError):
        folder.chmod(ONLY_OURS)
    for entry in folder.iterdir():
        about = entry.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_uid != ours:
            raise InputError(f"{entry} is not a file of this user: {MOVE_AWAY}")
    return found.st_dev, found.st_ino


def require_same_folder(folder: Path, identity: tuple[int, int]) -> None:
    """Refuse to write to a folder that has replaced ours."""
    found = folder.lstat()
    if (found.st_dev, found.st_ino) != identity:
        raise InputError(f"{folder} is not the folder that was here when the work began")


def owner_of_what_we_make(folder: Path) -> int:
    """Whose the files are that we make there; on a network that need not be our own number."""
    probe = unfinished(folder / "probe")
    with probe.open("xb") as file:
        owner = os.fstat(file.fileno()).st_uid
    probe.unlink()
    return owner


def open_to_all(folder: Path) -> None:
    """Give a folder of one's own the mode that any new folder has."""
    usual = unfinished(folder / "usual")
    usual.mkdir()
    mode = stat.S_IMODE(usual.stat().st_mode)
    usual.rmdir()
    with suppress(PermissionError):
        folder.chmod(mode)
