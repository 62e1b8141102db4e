"""Files changed as somebody who means harm would: numbers at their borders, sizes, whole parts.

Every change follows from a `random.Random` alone, so that a try can be done again by its number.
"""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import numpy as np

WHOLE = [0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, -(2**31), 2**32, 2**53, 2**62, 2**63 - 1, -(2**63)]
REAL = [0.0, -0.0, 1.0, -1.0, 1e-45, 1e-308, 1e30, 3.4e38, 1e308, np.inf, -np.inf, np.nan]
ODD_VALUES: list[Any] = [
    *WHOLE, *REAL, 2**64, 10**40, None, True, False, "", "a", "sum", "\ud800", "../../x", "x" * 500,
    [], {}, [[]], {"": 0}, [None] * 9, 0.5, "words", "\u0000", "é" * 9,
]  # fmt: skip


def changed_bytes(data: bytes, rng: Random) -> bytes:
    """The bytes with a few of them changed, moved, left out or doubled."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 16])):
        if not changed:
            return bytes(changed)
        place = rng.randrange(len(changed))
        kind = rng.randrange(8)
        if kind == 0:
            changed[place] ^= 1 << rng.randrange(8)
        elif kind == 1:
            changed[place] = rng.choice([0, 1, 0x7F, 0x80, 0xFF])
        elif kind == 2:
            size = rng.choice([1, 2, 4, 8])
            number = rng.choice(WHOLE) % (1 << 8 * size)
            changed[place : place + size] = number.to_bytes(size, rng.choice(["little", "big"]))
        elif kind == 3:
            del changed[place : place + rng.choice([1, 2, 8, 100])]
        elif kind == 4:
            changed[place:place] = rng.randbytes(rng.choice([1, 2, 8]))
        elif kind == 5:
            changed[place:place] = changed[place : place + rng.choice([4, 16, 200])]
        elif kind == 6:
            del changed[place:]
        else:
            other = rng.randrange(len(changed))
            changed[place : place + 8] = changed[other : other + 8]
    return bytes(changed)


def changed_value(value: Any, rng: Random) -> Any:
    """A value as JSON has them, with one part of it changed, left out or added."""
    value = copy.deepcopy(value)
    if rng.random() < 0.02:
        return rng.choice(ODD_VALUES)
    parent, key = value, None
    while True:
        if isinstance(parent, dict) and parent:
            key = rng.choice(list(parent))
        elif isinstance(parent, list) and parent:
            key = rng.randrange(len(parent))
        else:
            return rng.choice(ODD_VALUES)
        if isinstance(parent[key], dict | list) and parent[key] and rng.random() < 0.8:
            parent = parent[key]
            continue
        break
    kind, old = rng.randrange(6), parent[key]
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[rng.choice(["", "x", "words", "files"])] = rng.choice(ODD_VALUES)
    elif kind == 2 and type(old) is int:
        parent[key] = old + rng.choice([-1, 1, 2, -old, old])
    elif kind == 3 and isinstance(old, str) and old:
        place = rng.randrange(len(old))
        parent[key] = old[:place] + rng.choice(["", "a", "é", "/", "0"]) + old[place + 1 :]
    else:
        parent[key] = rng.choice(ODD_VALUES)
    return value


def changed_numbers(array: np.ndarray[Any, Any], rng: Random) -> np.ndarray[Any, Any]:
    """An array with some numbers at the borders of what they can be, or in another order."""
    changed = array.copy().reshape(-1)
    if not changed.size:
        return array
    kind = rng.randrange(8)
    if kind == 0:
        changed[:] = changed[::-1]
    elif kind == 1:
        changed[:] = np.roll(changed, rng.choice([1, -1]))
    elif kind == 2:
        changed[:] = odd_number(array, rng)
    else:
        for _ in range(rng.choice([1, 1, 2, 5])):
            changed[rng.randrange(changed.size)] = odd_number(array, rng)
    return changed.reshape(array.shape)


def odd_number(array: np.ndarray[Any, Any], rng: Random) -> Any:
    """A number that an array of this kind can hold and should not."""
    if array.dtype.kind == "f":
        with np.errstate(over="ignore", under="ignore"):
            return np.array(rng.choice(REAL)).astype(array.dtype)
    wide = rng.choice([*WHOLE, array.size, array.size - 1, array.size + 1, int(array.flat[0]) + 1])
    return np.array(wide % (1 << 8 * array.dtype.itemsize), np.uint64).astype(array.dtype)


def changed_tensors(data: bytes, rng: Random) -> bytes:
    """A safetensors file with another header, or with other numbers in one of its tensors."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    if rng.random() < 0.3:
        text = json.dumps(changed_value(header, rng)).encode()
        padding = b" " * (max(0, length - len(text)) if rng.random() < 0.5 else -len(text) % 8)
        text += padding
        return len(text).to_bytes(8, "little") + text + data[8 + length :]
    name = rng.choice([name for name in header if name != "__metadata__"])
    kinds = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U8": "u1"}
    begin, end = (8 + length + place for place in header[name]["data_offsets"])
    array = np.frombuffer(data[begin:end], kinds[header[name]["dtype"]])
    return data[:begin] + changed_numbers(array, rng).tobytes() + data[end:]
