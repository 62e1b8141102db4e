"""Small text with structure: groups that have words of their own among words of all."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def grouped(groups: int = 8, documents: int = 12, seed: int = 0) -> pa.Table:
    """Documents with the columns id, group and text; groups of two halves of the alphabet."""
    rng = np.random.default_rng(seed)
    common = [f"word{number}" for number in range(40)]
    rows = []
    for group in range(groups):
        own = [f"thing{group}x{number}" for number in range(6)]
        for _ in range(documents):
            text = " ".join([*rng.choice(common, 12), *rng.choice(own, 3)])
            rows.append((f"G{group}", text))
    rng.shuffle(rows)
    names, texts = zip(*rows, strict=True)
    ids = [f"d{number}" for number in range(len(rows))]
    return pa.table({"id": ids, "group": list(names), "text": list(texts)})


def labeled_pairs(table: pa.Table, of_each: int = 20) -> list[tuple[str, str, int]]:
    """Pairs of ids: of the next document of the same group, and of the next of another."""
    rows = list(zip(table["id"].to_pylist(), table["group"].to_pylist(), strict=True))
    pairs = []
    free = rows.copy()
    for label in (1, 0):
        for _ in range(of_each):
            one = free.pop(0)
            other = next(row for row in free if (row[1] == one[1]) == bool(label))
            free.remove(other)
            pairs.append((one[0], other[0], label))
    return pairs
