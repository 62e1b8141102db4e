"""Arrays that are only read, room for new ones, many pieces in one, and maps of files.

Nothing can change an array that is read-only, and kernels are compiled once for such.

Large intermediate results are kept in memory up to a budget, then in temporary files (`Spill`). A
file has no name: the system takes it back with the process, however that ends. Its room on the disk
is taken before it is mapped, since a disk that is full when a page of it is first written to would
end the process without a word.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from deltavec.errors import DeltavecError, InputError

Kind = TypeVar("Kind", bound=np.generic)
UInt8s = npt.NDArray[np.uint8]
UInt64s = npt.NDArray[np.uint64]
Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Float32s = npt.NDArray[np.float32]
Float64s = npt.NDArray[np.float64]

# A signed integer of 64 bits in kernels; to a type checker, simply an int.
signed = cast(Callable[[Any], int], np.int64)

ROWS_AT_ONCE = 65_536
# For float64 copies of a table's rows. So many are taken from memory that was given back before;
# a large block is fresh memory every time, and clearing that takes longer than the arithmetic.
FEW_ROWS = 2_048
# Bytes of results that are made in Arrow's memory: numpy's below that is used again as well, and
# what is kept for the next result is kept from everybody else.
KEPT_FROM, KEPT_TO = 32 << 20, 256 << 20


def read_only(array: npt.NDArray[Kind]) -> npt.NDArray[Kind]:
    """The array, read-only: a view of it."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def extend(array: npt.NDArray[Kind], length: int) -> npt.NDArray[Kind]:
    """The array, padded with zeros to a length."""
    longer = np.zeros(length, array.dtype)
    longer[: len(array)] = array
    return longer


def allocate_rows(rows: int, width: int) -> npt.NDArray[np.float32]:
    """Room for rows of float32, which hold anything.

    Large arrays of numpy go back to the system when they are done with, and the system clears what
    it gives: a seventh of the time that documents of ten words took. Arrow keeps memory for a
    while, and hands it out as it is, if its allocator is the usual one.
    """
    if KEPT_FROM <= rows * width * 4 <= KEPT_TO:
        import pyarrow as pa

        if pa.default_memory_pool().backend_name == "mimalloc":
            memory = pa.allocate_buffer(rows * width * 4)
            return np.frombuffer(memory, np.float32).reshape(rows, width)
    return np.empty((rows, width), np.float32)


def require_mapped(*arrays: npt.NDArray[Any]) -> None:
    """Refuse arrays that are maps of a file which was cut short since.

    The system ends a process that reads behind the end of a mapped file (SIGBUS). A look at the
    file's size takes a microsecond; what happens between the look and the use is not seen.

    Raises
    ------
    InputError
        If one of the files is shorter than it was.
    """
    for memory in map(mapped_file, arrays):
        if memory is not None:
            require_mapped_whole(memory)


def mapped_file(array: npt.NDArray[Any]) -> mmap.mmap | None:
    """The map of a file that an array lies in; None for one in memory of its own."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None


def require_mapped_whole(memory: mmap.mmap) -> None:
    """Refuse the map of a file which was cut short since; the map is of the whole file."""
    if memory.size() < len(memory):
        raise InputError(
            f"a file that is in use was cut short, from {len(memory):,} to {memory.size():,} "
            "bytes: put it back as it was and load it again; to change it while it is in use, "
            "write a new one and rename it"
        )


def blocks(rows: int, size: int = ROWS_AT_ONCE) -> Iterator[slice]:
    """The rows, so many at a time."""
    for first in range(0, rows, size):
        yield slice(first, first + size)


def offsets_of(lengths: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Where each of successive pieces begins, and where the last one ends."""
    sizes = np.asarray(lengths, np.int64)
    begins = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=begins[1:])
    return begins


def pack(pieces: Sequence[bytes]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The pieces one after the other and where each begins, both read-only."""
    begins = offsets_of([len(piece) for piece in pieces])
    return np.frombuffer(b"".join(pieces), np.uint8), read_only(begins)


def fix_signs(vectors: npt.NDArray[Kind], axis: int) -> npt.NDArray[Kind]:
    """Singular vectors, or eigenvectors, along an axis: the largest entry of each positive.

    Their sign is arbitrary; with it fixed, results repeat.
    """
    places = np.abs(vectors).argmax(axis=axis, keepdims=True)
    fixed: npt.NDArray[Kind] = vectors * np.sign(np.take_along_axis(vectors, places, axis=axis))
    return fixed


def as_fixed_size_lists(matrix: npt.NDArray[Any]) -> Any:
    """The rows of a matrix as an Arrow column of lists of one length, not copied."""
    import pyarrow as pa

    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), matrix.shape[1])


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
