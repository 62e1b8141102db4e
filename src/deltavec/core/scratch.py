"""Room for large intermediate results: in memory up to a budget, then in temporary files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


class Spill:
    """Makes arrays in memory until a budget is used up, then in temporary files."""

    def __init__(self, folder: Path, budget: int) -> None:
        self.folder = folder
        self.left = budget
        self.files = 0

    def __call__(self, length: int, kind: Any) -> npt.NDArray[Any]:
        """An array of this length and kind, its content undefined."""
        size = length * np.dtype(kind).itemsize
        if size <= self.left:
            self.left -= size
            return np.empty(length, kind)
        self.files += 1
        path = self.folder / f"{self.files}.array"
        return np.memmap(path, dtype=kind, mode="w+", shape=(length,)).view(np.ndarray)


@contextmanager
def spilling(budget: int) -> Iterator[Spill]:
    """Where arrays are made while the context lasts; its files are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="deltavec-") as folder:
        yield Spill(Path(folder), budget)
