"""A lock for an output, acquired before any work is done.

The lock is a hidden file beside the output, locked by the operating system while the process lives.
After a kill the file may be left, but it is not locked, and the next writer takes it over.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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
        raise InputError(
            f"{output}: cannot lock it: {lock} is a link, or another user's; remove it if no "
            "process is writing, or name another output"
        ) from None
    if handle is None:
        raise InputError(
            f"{output}: another process is writing to it; wait until it is done, or name another "
            "output"
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
