"""Documents in parquet files, in batches of bounded size.

A file of a few hundred bytes can hold gigabytes: a value stands once in the dictionary of its
column, and a million rows name it. So many rows are decoded at once as fit into memory even if
each of them is as long as the whole dictionary.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import LARGEST_RECORD, unreadable
from deltavec.io.corpus.columns import CHUNK_BYTES, Piece, is_plain_text, repaired
from deltavec.io.corpus.footers import column_chunks
from deltavec.io.corpus.formats import Wanted

PARQUET_ROWS = 8192  # at most so many at once
DECODED_BYTES = 1 << 30  # of rows that are decoded at once, whatever they name

DICTIONARY_PAGE = 2  # PageType in parquet.thrift
HEADER_BYTES = 32  # enough for the first fields of a page's header


def parquet_file(path: Path) -> Any:
    """The opened parquet file, once its footer has been read."""
    from pyarrow import parquet

    try:
        # a read buffer instead of whole column chunks in memory
        return parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        what = f"not a whole parquet file ({error})" if path.stat().st_size else "the file is empty"
        raise CorpusError(f"{path}: {what}; expected parquet data, write it again") from error
    except OSError as error:
        raise unreadable(str(path), error) from error


def parquet_pieces(path: Path, wanted: Wanted) -> Generator[Piece]:
    """The documents and columns wanted, and the fraction of the rows read."""
    with parquet_file(path) as file:
        rows = 0
        at_once = _rows_at_once(path, file.metadata.num_rows, wanted.columns)
        batches = None
        while True:
            try:
                if batches is None:
                    batches = file.iter_batches(at_once, columns=wanted.columns)
                batch = next(batches, None)
                if batch is None:
                    return
                batch = _sound(batch.select(wanted.columns), wanted)
            except (pa.ArrowException, OSError, UnicodeDecodeError, KeyError) as error:
                raise CorpusError(
                    f"{path}: damaged after row {rows} ({error}); write it again"
                ) from error
            rows += batch.num_rows
            yield Piece(batch, min(1.0, rows / max(1, file.metadata.num_rows)))


def _sound(batch: pa.RecordBatch, wanted: Wanted) -> pa.RecordBatch:
    """The same rows, once the values kept are known to be such; the documents are looked at later.

    Text that is not UTF-8 is repaired, as it is in other formats.
    """
    columns = batch.columns
    for place, column in enumerate(columns):
        if wanted.columns[place] == wanted.column:
            continue
        columns[place] = repaired(column) if is_plain_text(column.type) else column
        columns[place].validate(full=True)
    return pa.record_batch(columns, names=batch.schema.names)


def _rows_at_once(path: Path, rows: int, columns: Sequence[str]) -> int:
    """Rows that hold about one chunk of data, and never more than fits into memory."""
    chunks = [chunk for chunk in column_chunks(path) if chunk.column in columns]
    with path.open("rb") as file:
        longest = max((_dictionary_bytes(file, chunk.begin) for chunk in chunks), default=0)
    longest = max([longest, *(chunk.size // max(1, chunk.rows) for chunk in chunks)])
    if longest > LARGEST_RECORD:
        raise CorpusError(
            f"{path}: a value may unfold to {longest:,} bytes, more than the {LARGEST_RECORD:,} "
            "that a document may have; write it again with shorter documents"
        )
    usual = CHUNK_BYTES * rows // max(1, sum(chunk.size for chunk in chunks))
    at_most = DECODED_BYTES // max(1, longest * len(columns))
    return max(1, min(PARQUET_ROWS, usual, at_most))


def _dictionary_bytes(file: Any, begin: int) -> int:
    """The size of the dictionary that begins here, unfolded; 0 if it is another page.

    A page's header is Thrift's compact protocol: three numbers, each behind a byte that says so.
    """
    file.seek(max(0, begin))
    header = BytesIO(file.read(HEADER_BYTES))
    kind, size = (_number(header) for _ in range(2))
    return size if kind == DICTIONARY_PAGE else 0


def _number(header: BytesIO) -> int:
    """The next number of a header: a byte for the field, then zigzag in groups of seven bits."""
    header.read(1)
    value = shift = 0
    while byte := header.read(1):
        value |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            break
    return value >> 1
