"""Arrays in safetensors files: written as they are, and mapped, not copied, to be read.

The sizes of the arrays determine the layout of deltavec's own files. Nothing is parsed: the file
must have the length, and begin with the header, that the sizes lead to. In other files the
safetensors library checks the header: every tensor has the bytes that its shape asks for, none
overlap and none are missing.
"""

from __future__ import annotations

import io
import json
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.errors import InputError
from deltavec.io.artifacts.manifest import require_size

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
Shapes: TypeAlias = Mapping[str, tuple[str, tuple[int, ...]]]
"""The type and the shape of each array, in the order of the file."""

DTYPES: dict[str, np.dtype[Any]] = {
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "I8": np.dtype("i1"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("u1"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
}
CACHE_LINE = 64


class Tensor(NamedTuple):
    """One array: its kind, its shape, and its place after the header."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


@dataclass(frozen=True)
class Layout:
    """The layout of a file of deltavec: its header, and the arrays after it."""

    header: bytes
    tensors: Mapping[str, Tensor]

    @property
    def size(self) -> int:
        """The length of the file."""
        return len(self.header) + max(tensor.end for tensor in self.tensors.values())


def layout(
    format: str, shapes: Shapes, *, aligned: str, shortest_header: int = 0, **about: str
) -> Layout:
    """The position of each array in a file.

    Parameters
    ----------
    format
        What the file says it holds.
    shapes
        The arrays; the largest numbers first, so that every array is aligned.
    aligned
        The array that begins on a line of the cache.
    shortest_header
        How many bytes come before the arrays at least.
    **about
        What else the file says of itself.
    """
    tensors = {}
    entries: dict[str, Any] = {"__metadata__": {"format": format, **about}}
    begin = 0
    for name, (dtype, shape) in shapes.items():
        end = begin + DTYPES[dtype].itemsize * prod(shape)
        tensors[name] = Tensor(dtype, shape, begin, end)
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
        begin = end
    # Spaces, as the format allows.
    text = json.dumps(entries, separators=(",", ":")).encode().ljust(shortest_header - 8)
    text += b" " * (-(8 + len(text) + tensors[aligned].begin) % CACHE_LINE)
    return Layout(len(text).to_bytes(8, "little") + text, tensors)


def write_tensors(file: BinaryIO, layout: Layout, arrays: Arrays) -> None:
    """Write the arrays, without a copy of the large ones."""
    file.write(layout.header)
    for name, tensor in layout.tensors.items():
        file.write(np.ascontiguousarray(arrays[name], DTYPES[tensor.dtype]).data)


def mapped_tensors(file: BinaryIO, layout: Layout) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a file, read-only views of it, once it is known to have this layout.

    Raises
    ------
    InputError
        If the length of the file or its header is another.
    """
    require_size(file, layout.size)
    if file.read(len(layout.header)) != layout.header:
        raise InputError("the header is not the one that belongs here: the file is damaged")
    return views(file, len(layout.header), layout.tensors)


def foreign_tensors(path: Path) -> tuple[Arrays, Mapping[str, str]]:
    """The tensors of any safetensors file, checked and mapped, and the strings of its writer.

    Those of types that numpy does not have are left out.

    Raises
    ------
    InputError
        If the file is damaged, cut short or not a safetensors file.
    """
    import safetensors

    try:
        with safetensors.safe_open(path, framework="np"):
            pass
    except safetensors.SafetensorError as error:
        raise InputError(f"{path.name}: expected a sound safetensors file ({error})") from error
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header: dict[str, Any] = json.loads(file.read(length))
        metadata = header.pop("__metadata__", None) or {}
        known = {
            name: Tensor(entry["dtype"], tuple(entry["shape"]), *entry["data_offsets"])
            for name, entry in header.items()
            if entry["dtype"] in DTYPES
        }
        try:
            arrays = views(file, 8 + length, known)
        except InputError as error:
            raise InputError(f"{path.name}: {error}") from None
    return arrays, metadata


def views(file: BinaryIO, begin: int, tensors: Mapping[str, Tensor]) -> dict[str, npt.NDArray[Any]]:
    """The tensors as views of the mapped file; the first byte after the header is at begin."""
    memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        return {
            name: np.ndarray(tensor.shape, DTYPES[tensor.dtype], memory, begin + tensor.begin)
            for name, tensor in tensors.items()
        }
    # More dimensions than numpy has, or one too large, of a tensor without a single number.
    except (ValueError, OverflowError) as error:
        raise InputError(f"a tensor of a shape that cannot be: {error}") from None


def npy_header(rows: int, dimensions: int) -> bytes:
    """The header of a npy file of float32 rows.

    NumPy leaves room in it for the rows to grow, so that it keeps its length.
    """
    header = io.BytesIO()
    fields = {"descr": "<f4", "fortran_order": False, "shape": (rows, dimensions)}
    np.lib.format.write_array_header_1_0(header, fields)
    return header.getvalue()


def are_offsets(offsets: npt.NDArray[np.int64], length: int) -> bool:
    """Whether offsets rise from 0 to this length, as those of packed words do."""
    ends = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == length
    # Compared, not subtracted: a difference can wrap around.
    return bool(ends and (offsets[:-1] <= offsets[1:]).all())


def require_words(arrays: Arrays) -> None:
    """Refuse words that overlap, run out of their bytes, or are not UTF-8."""
    words, offsets = arrays["words"], arrays["word_offsets"]
    if not are_offsets(offsets, len(words)):
        raise InputError("word_offsets must rise from 0 to the end of words")
    column = pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(words)
    )
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raise InputError("words must be UTF-8") from None
