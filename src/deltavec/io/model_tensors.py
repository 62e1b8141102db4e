"""A model's arrays in one safetensors file, written as they are and mapped, not copied, to read.

Four numbers say how large each array is, and so where it stands in the file. A reader who knows
them has nothing to parse: the file must have the length, and begin with the bytes, that they lead
to.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections.abc import Mapping
from math import prod
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from deltavec.errors import ModelError

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]

DTYPES: dict[str, np.dtype[Any]] = {
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("u1"),
}
CACHE_LINE = 64


class Sizes(NamedTuple):
    """The numbers that the layout follows from."""

    words: int
    dimensions: int
    components_removed: int
    word_bytes: int


class Tensor(NamedTuple):
    """One array: its kind, its shape, and its place after the header."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def layout(sizes: Sizes) -> dict[str, Tensor]:
    """Where each array stands; eight-byte numbers first, so that every array is aligned."""
    words, dimensions, removed, word_bytes = sizes
    shapes = {
        "token_counts": ("I64", (words,)),
        "document_counts": ("I64", (words,)),
        "word_offsets": ("I64", (words + 1,)),
        "penalties": ("F64", (words,)),
        "offset": ("F64", (dimensions,)),
        "strengths": ("F64", (dimensions,)),
        "components": ("F64", (removed, dimensions)),
        "offset_coordinates": ("F64", (removed,)),
        "rows": ("F32", (words, dimensions)),
        "norms": ("F32", (words,)),
        "coordinates": ("F32", (words, removed)),
        "words": ("U8", (word_bytes,)),
    }
    tensors = {}
    begin = 0
    for name, (dtype, shape) in shapes.items():
        end = begin + DTYPES[dtype].itemsize * prod(shape)
        tensors[name] = Tensor(dtype, shape, begin, end)
        begin = end
    return tensors


def header(tensors: Mapping[str, Tensor]) -> bytes:
    """The bytes that a safetensors file of these arrays begins with."""
    entries: dict[str, Any] = {"__metadata__": {"format": "deltavec model"}}
    for name, (dtype, shape, begin, end) in tensors.items():
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(entries, separators=(",", ":")).encode()
    # Spaces, as the format allows, up to where the table begins on a line of the cache.
    text += b" " * (-(8 + len(text) + tensors["rows"].begin) % CACHE_LINE)
    return len(text).to_bytes(8, "little") + text


def file_size(tensors: Mapping[str, Tensor]) -> int:
    """The length of a file of these arrays."""
    return len(header(tensors)) + max(tensor.end for tensor in tensors.values())


def write_tensors(file: BinaryIO, sizes: Sizes, arrays: Arrays) -> None:
    """Write the arrays, without a copy of the large ones."""
    tensors = layout(sizes)
    file.write(header(tensors))
    for name, tensor in tensors.items():
        file.write(np.ascontiguousarray(arrays[name], DTYPES[tensor.dtype]).data)


def mapped_tensors(file: BinaryIO, sizes: Sizes) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a file, read-only views of it, once it is known to have this layout.

    Raises
    ------
    ModelError
        If the length of the file or its header is another.
    """
    tensors = layout(sizes)
    expected, found = file_size(tensors), os.fstat(file.fileno()).st_size
    if found != expected:
        raise ModelError(
            f"expected {expected:,} bytes, found {found:,}: the file was cut short or exchanged"
        )
    memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = header(tensors)
    if memory[: len(start)] != start:
        raise ModelError("the header is not the one of this model: the file is damaged")
    return {
        name: np.ndarray(tensor.shape, DTYPES[tensor.dtype], memory, len(start) + tensor.begin)
        for name, tensor in tensors.items()
    }


def sha256(file: BinaryIO) -> str:
    """The checksum of a whole file, read in pieces."""
    file.seek(0)
    digest = hashlib.sha256()
    while piece := file.read(1 << 20):
        digest.update(piece)
    return digest.hexdigest()
