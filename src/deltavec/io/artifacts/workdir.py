"""A private folder for unfinished work, in a folder that other users may write to.

A user with write access to a folder can put a link there under a name that deltavec will write,
and so have another file overwritten. That is impossible in a folder that only its owner may enter;
what is there already is checked before it is used.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import unfinished

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
