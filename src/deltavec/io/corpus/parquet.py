"""Documents in parquet files, in batches of bounded size.

A file of a few hundred bytes can hold gigabytes: a value stands once in the dictionary of its
column, and a million rows name it. So many rows are decoded at once as fit into memory even if
each of them is as long as the longest value of the dictionary.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import LARGEST_RECORD, unreadable
from deltavec.io.corpus.columns import (
    CHUNK_BYTES,
    CHUNK_DOCUMENTS,
    Piece,
    is_plain_text,
    repaired,
)
from deltavec.io.corpus.footers import Chunk, row_groups
from deltavec.io.corpus.formats import Wanted
from deltavec.io.corpus.pages import dictionary_of, longest_value

DECODED_BYTES = 1 << 30  # of rows that are decoded at once, whatever they name


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
    with parquet_file(path) as file, path.open("rb") as raw:
        rows, total = 0, file.metadata.num_rows
        try:
            for run in _runs(path, raw, file.num_row_groups, wanted.columns):
                for batch in file.iter_batches(run.at_once, run.groups, wanted.columns):
                    sound = _sound(batch, wanted)
                    rows += len(batch)
                    yield Piece(sound, min(1.0, rows / max(1, total)))
            # Of a damaged page pyarrow may give fewer rows than there are, without an error.
            if rows < total:
                raise pa.ArrowInvalid(f"{total - rows} of {total} rows are missing")
        except (pa.ArrowException, OSError, UnicodeDecodeError, KeyError) as error:
            raise CorpusError(
                f"{path}: damaged after row {rows} ({error}); write it again"
            ) from error


def _sound(batch: pa.RecordBatch, wanted: Wanted) -> pa.RecordBatch:
    """The batch, its kept values validated; the documents are validated later.

    Text that is not UTF-8 is repaired, as it is in other formats.
    """
    batch = batch.select(wanted.columns)
    columns = batch.columns
    for place, column in enumerate(columns):
        if wanted.columns[place] == wanted.column:
            continue
        columns[place] = repaired(column) if is_plain_text(column.type) else column
        columns[place].validate(full=True)
    return pa.record_batch(columns, names=batch.schema.names)


class _Run(NamedTuple):
    """Row groups that are read together, and how many rows to decode at once."""

    groups: list[int]
    at_once: int


def _runs(path: Path, file: BinaryIO, count: int, columns: Sequence[str]) -> Iterator[_Run]:
    """The row groups in order, small ones together."""
    chunks = [[one for one in group if one.column in columns] for group in row_groups(path)]
    _require_short_values(path, file, chunks)
    fewest, begin = CHUNK_DOCUMENTS, 0
    while begin < count:
        end, rows, at_once = begin, 0, CHUNK_DOCUMENTS
        while end < min(count, len(chunks)) and rows < CHUNK_DOCUMENTS:
            at_once = min(at_once, _rows_at_once(file, chunks[end]))
            rows += max((chunk.rows for chunk in chunks[end]), default=0)
            end += 1
        fewest = min(fewest, at_once)
        if end == begin:  # beyond the groups that were looked at
            end, at_once = count, fewest
        yield _Run(list(range(begin, end)), at_once)
        begin = end


def _require_short_values(path: Path, file: BinaryIO, groups: Sequence[Sequence[Chunk]]) -> None:
    """Refuse values that may be longer than a document may be."""
    longest = 0
    for chunk in chain.from_iterable(groups):
        usual = chunk.size // max(1, chunk.rows)
        longest = max(longest, usual, dictionary_of(file, chunk).size)
    if longest > LARGEST_RECORD:
        raise CorpusError(
            f"{path}: a value may unfold to {longest:,} bytes, more than the {LARGEST_RECORD:,} "
            "that a document may have; write it again with shorter documents"
        )


def _rows_at_once(file: BinaryIO, chunks: Sequence[Chunk]) -> int:
    """Rows of a group that hold about one chunk of data, and never more than fits into memory."""
    dictionaries = [dictionary_of(file, chunk) for chunk in chunks]
    each = [chunk.size / max(1, chunk.rows) for chunk in chunks]
    of_all = sum(
        max(mean, found.size / max(1, found.values))
        for mean, found in zip(each, dictionaries, strict=True)
    )
    # Three quarters: batches that are a little too large are cut, and what is cut off is copied.
    usual = min(CHUNK_DOCUMENTS, int(CHUNK_BYTES * 3 / 4 / max(1.0, of_all)))
    longest = max((found.size for found in dictionaries), default=0)
    if usual * longest * len(chunks) > DECODED_BYTES:  # if each row named all of a dictionary
        longest = max(map(partial(longest_value, file), chunks, dictionaries))
    at_most = int(DECODED_BYTES / max(1.0, longest, *each) / max(1, len(chunks)))
    return max(1, min(usual, at_most))
