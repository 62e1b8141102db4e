"""Documents in Parquet, as collections up to version 3 of the format hold them; only read.

A row group is decoded whole for a single document of it, and some are kept for searches that find
the same documents again. Every page has a checksum, which is looked at whenever it is read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

import pyarrow as pa

GROUPS_KEPT = 32


class ParquetDocuments:
    """A file of documents, a row group read at a time."""

    def __init__(self, path: Path) -> None:
        from pyarrow import parquet  # slow to load, and only old collections need it

        self.file = parquet.ParquetFile(path, page_checksum_verification=True)
        self.schema: pa.Schema = self.file.schema_arrow
        about = self.file.metadata
        self.sizes = [about.row_group(number).num_rows for number in range(about.num_row_groups)]
        self.kept: OrderedDict[int, pa.Table] = OrderedDict()
        self.lock = Lock()  # a reader of parquet is for one thread at a time

    def groups(self, numbers: Sequence[int]) -> list[pa.Table]:
        """Groups of documents."""
        return [self._group(number) for number in numbers]

    def _group(self, number: int) -> pa.Table:
        with self.lock:
            if number in self.kept:
                self.kept.move_to_end(number)
                return self.kept[number]
            table = self.file.read_row_group(number)
            self.kept[number] = table
            if len(self.kept) > GROUPS_KEPT:
                self.kept.popitem(last=False)
            return table

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all documents."""
        with self.lock:
            return self.file.read(columns=list(names)).select(list(names))
