"""Room for large intermediate results: in memory up to a budget, then in temporary files.

A file has no name: the system takes it back with the process, however that ends. Its room on the
disk is taken before it is mapped, since a disk that is full when a page of it is first written to
would end the process without a word.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from deltavec.errors import DeltavecError

Allocate = Callable[[int, Any], npt.NDArray[Any]]
"""Makes an array of a length and a kind: ``numpy.empty``, or one that lives in a file."""


class Spill:
    """Makes arrays in memory until a budget is used up, then in temporary files."""

    def __init__(self, budget: int) -> None:
        self.left = budget

    def __call__(self, length: int, kind: Any) -> npt.NDArray[Any]:
        """An array of this length and kind, its content undefined."""
        size = length * np.dtype(kind).itemsize
        if size <= self.left:
            self.left -= size
            return np.empty(length, kind)
        with tempfile.TemporaryFile(prefix="deltavec-") as file:
            with report_full_disk(size):
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, size)
                else:
                    os.truncate(file.fileno(), size)
            return np.memmap(file, dtype=kind, mode="r+", shape=(length,)).view(np.ndarray)


@contextmanager
def report_full_disk(size: int) -> Iterator[None]:
    """Say what to do where a disk has no room for so many bytes."""
    try:
        yield
    except OSError as error:
        raise DeltavecError(
            f"no room for {size:,} bytes of intermediate results in {tempfile.gettempdir()} "
            f"({error.strerror}): make room, let TMPDIR name another folder, or raise max_memory "
            "(--max-memory)"
        ) from error


def collect(parts: Iterable[npt.NDArray[Any]], kind: Any, budget: int) -> npt.NDArray[Any]:
    """All parts, one after the other: in memory if they need no more than a budget, else in a file.

    Raises
    ------
    DeltavecError
        If the disk has no room for them.
    """
    held: list[npt.NDArray[Any]] = []
    left = iter(parts)
    for part in left:
        held.append(part)
        budget -= part.nbytes
        if budget < 0:
            break
    else:
        return np.concatenate([np.zeros(0, kind), *held])
    with tempfile.TemporaryFile(prefix="deltavec-") as file:
        while held:
            append(file, held.pop(0))
        for part in left:
            append(file, part)
        return np.memmap(file, dtype=kind, mode="r+").view(np.ndarray)


def append(file: IO[bytes], part: npt.NDArray[Any]) -> None:
    """Write an array to the end of a file."""
    with report_full_disk(part.nbytes):
        file.write(part.data)
        file.flush()
