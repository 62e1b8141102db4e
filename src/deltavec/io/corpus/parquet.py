"""Documents in Parquet files, in batches of bounded size.

A file of a few hundred bytes can hold gigabytes: a value is stored once in the dictionary of its
column, and a million rows can refer to it. So only as many rows are decoded at once as fit into
memory even if each of them is as long as the longest value of the dictionary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import LARGEST_RECORD, unreadable
from deltavec.io.corpus.columns import (
    CHUNK_BYTES,
    CHUNK_DOCUMENTS,
    Piece,
    is_plain_text,
    repair_utf8,
)
from deltavec.io.corpus.files import CorpusFile
from deltavec.io.corpus.parquet_metadata import Chunk, dictionary_of, longest_value, row_groups

DECODED_BYTES = 1 << 30  # of rows that are decoded at once


def open_parquet(path: Path) -> Any:
    """The opened Parquet file, once its footer has been read."""
    from pyarrow import parquet

    try:
        # a read buffer instead of whole column chunks in memory
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        what = f"not a whole parquet file ({error})" if path.stat().st_size else "the file is empty"
        raise CorpusError(f"{path}: {what}; expected parquet data, write it again") from error
    except OSError as error:
        raise unreadable(str(path), error) from error


def parquet_pieces(source: CorpusFile, columns: Sequence[str]) -> Iterator[Piece]:
    """Some columns of a file, and the fraction of its rows read."""
    path = source.path
    with open_parquet(path) as file, path.open("rb") as raw:
        rows, total = 0, file.metadata.num_rows
        try:
            for number, group in enumerate(row_groups(path)):
                chunks = [chunk for chunk in group if chunk.column in columns]
                at_once = rows_at_once(path, raw, chunks)
                for batch in file.iter_batches(at_once, [number], columns):
                    sound = validate(batch.select(columns), source.column)
                    rows += len(batch)
                    yield Piece(sound, min(1.0, rows / max(1, total)))
            # Of a damaged page pyarrow may give fewer rows than there are, without an error.
            if rows < total:
                raise pa.ArrowInvalid(f"{total - rows} of {total} rows are missing")
        except (pa.ArrowException, OSError, UnicodeDecodeError, LookupError) as error:
            raise CorpusError(
                f"{path}: damaged after row {rows} ({error}); write it again"
            ) from error


def validate(batch: pa.RecordBatch, document_column: str | None) -> pa.RecordBatch:
    """The batch with valid values in all columns but the documents', which are checked later.

    Text that is not UTF-8 is repaired, as in other formats.
    """
    columns = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name != document_column:
            column = repair_utf8(column) if is_plain_text(column.type) else column
            column.validate(full=True)
        columns.append(column)
    return pa.record_batch(columns, names=batch.schema.names)


def rows_at_once(path: Path, file: BinaryIO, chunks: Sequence[Chunk]) -> int:
    """Rows of a group that hold about one chunk of data, and never more than fits into memory."""
    dictionaries = [dictionary_of(file, chunk) for chunk in chunks]
    means = [chunk.size / max(1, chunk.rows) for chunk in chunks]
    largest = max((found.size for found in dictionaries), default=0)
    longest = int(max([largest, *means]))
    if longest > LARGEST_RECORD:
        raise CorpusError(
            f"{path}: a value may decode to {longest:,} bytes, more than the {LARGEST_RECORD:,} "
            "that a document may have; write it again with shorter documents"
        )
    row_bytes = sum(
        max(mean, found.size / max(1, found.values))
        for mean, found in zip(means, dictionaries, strict=True)
    )
    # Three quarters: batches that are a little too large are cut, and what is cut off is copied.
    usual = min(CHUNK_DOCUMENTS, int(CHUNK_BYTES * 3 / 4 / max(1.0, row_bytes)))
    if usual * largest * len(chunks) > DECODED_BYTES:  # if each row held a whole dictionary
        largest = max(map(partial(longest_value, file), chunks, dictionaries))
    at_most = int(DECODED_BYTES / max(1.0, largest, *means) / max(1, len(chunks)))
    return max(1, min(usual, at_most))
