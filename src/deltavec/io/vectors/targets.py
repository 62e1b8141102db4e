"""Targets from a file: texts, or numbers of documents, and the vectors that a model gave them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.errors import VectorsError

TEXT, ROW, VECTOR = "text", "row", "vector"


def read_targets(path: Path) -> tuple[list[Any], npt.NDArray[np.float64]]:
    """The targets in a Parquet file with the columns ``text`` (or ``row``) and ``vector``.

    Raises
    ------
    VectorsError
        If the file cannot be read, a column is missing, or vectors differ in length.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise VectorsError(f"{path}: expected a Parquet file ({error})") from None
    named = next((name for name in (TEXT, ROW) if name in table.column_names), None)
    if named is None or VECTOR not in table.column_names:
        raise VectorsError(
            f"{path}: expected the columns 'text' (or 'row', numbers of documents from 0 on) and "
            f"'vector', found {', '.join(map(repr, table.column_names))}"
        )
    try:
        vectors = np.array(table[VECTOR].to_pylist(), np.float64)
    except (TypeError, ValueError):
        raise VectorsError(f"{path}: vectors must be lists of numbers of one length") from None
    return table[named].to_pylist(), vectors
