"""Tensors of a safetensors file, mapped into memory and not copied.

The safetensors library checks the file: that the header is sound, that every tensor has the bytes
its shape asks for, that none overlap and none are missing. The places of the tensors, which it does
not tell, are read from the header.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import safetensors

from deltavec.errors import InputError

DTYPES: dict[str, np.dtype[Any]] = {
    "F16": np.dtype("<f2"),
    "F32": np.dtype("<f4"),
    "F64": np.dtype("<f8"),
    "I32": np.dtype("<i4"),
    "I64": np.dtype("<i8"),
    "U8": np.dtype("u1"),
    "U32": np.dtype("<u4"),
    "U64": np.dtype("<u8"),
}


@dataclass(frozen=True)
class Tensors:
    """What a safetensors file holds.

    Attributes
    ----------
    arrays
        The tensors by name, read-only maps of the file.
    metadata
        The strings that the writer added.
    unread
        The names of tensors whose type numpy does not have, such as BF16.
    """

    arrays: Mapping[str, npt.NDArray[Any]]
    metadata: Mapping[str, str]
    unread: tuple[str, ...]


def mapped_tensors(path: Path) -> Tensors:
    """The tensors of a file, checked and mapped.

    Raises
    ------
    InputError
        If the file is damaged, cut short or not a safetensors file.
    """
    try:
        with safetensors.safe_open(path, framework="np"):
            pass
    except safetensors.SafetensorError as error:
        raise InputError(
            f"{path.name}: expected a sound safetensors file, it looks damaged or cut short "
            f"({error})"
        ) from error
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header: dict[str, Any] = json.loads(file.read(length))
    metadata = header.pop("__metadata__", None) or {}
    known = {name: entry for name, entry in header.items() if entry["dtype"] in DTYPES}
    arrays = {name: mapped_tensor(path, entry, 8 + length) for name, entry in known.items()}
    return Tensors(arrays, metadata, tuple(sorted(set(header) - set(known))))


def mapped_tensor(path: Path, entry: Mapping[str, Any], begin: int) -> npt.NDArray[Any]:
    """One tensor, by its entry in the header; the tensors begin at this place of the file."""
    dtype, shape = DTYPES[entry["dtype"]], tuple(entry["shape"])
    if 0 in shape:  # nothing to map
        return np.empty(shape, dtype)
    return np.asarray(np.memmap(path, dtype, "r", begin + entry["data_offsets"][0], shape))
