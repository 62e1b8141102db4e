"""Documents in parquet files, in batches of bounded size.

A file of a few hundred bytes can hold gigabytes: a value stands once in the dictionary of its
column, and a million rows name it. So many rows are decoded at once as fit into memory even if
each of them is as long as the longest value of the dictionary.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from threading import Event
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
from deltavec.io.corpus.plain.packed import PackedTexts, State
from deltavec.io.corpus.plain.pages import OddError, may_be_plain, plain_pages, rows_before_plain

DECODED_BYTES = 1 << 30  # of rows that are decoded at once, whatever they name
LEAST_UNPACKED = 1 << 20  # bytes of a group of rows: pyarrow reads many small ones together


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
    with parquet_file(path) as file, path.open("rb") as bytes_of_file:
        pieces = _pieces(path, file, bytes_of_file, wanted)
        rows, total = 0, max(1, file.metadata.num_rows)
        while True:
            with _damage_told(path, rows):
                piece = next(pieces, None)
            if piece is None:
                break
            read = partial(_read_telling, path, rows, piece.read)
            rows += piece.documents
            yield replace(piece, consumed=min(1.0, rows / total), read=read)


@contextmanager
def _damage_told(path: Path, rows: int) -> Iterator[None]:
    """Within it, whatever is wrong behind so many rows of a file is one clear error."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError, KeyError) as error:
        raise CorpusError(f"{path}: damaged after row {rows} ({error}); write it again") from error


def _read_telling(path: Path, rows: int, read: Callable[[], pa.RecordBatch]) -> pa.RecordBatch:
    with _damage_told(path, rows):
        return read()


def _pieces(path: Path, file: Any, bytes_of_file: BinaryIO, wanted: Wanted) -> Iterator[Piece]:
    """The rows of a file; text alone, in the form that most files have, is not unpacked yet."""
    level = _plain_text_level(file, wanted)
    state, odd = State.of(bytes_of_file), Event()
    for run in _runs(path, bytes_of_file, file.num_row_groups, wanted.columns):
        known = len(run.chunks) == len(run.groups) and all(map(may_be_plain, run.chunks))
        small = any(chunk.size < LEAST_UNPACKED for chunk in run.chunks)
        # Who has not loaded the compiler has little to read.
        if level is None or not known or small or "numba" not in sys.modules or odd.is_set():
            for batch in file.iter_batches(run.at_once, run.groups, wanted.columns):
                yield _sound(batch, wanted)
            continue
        for group, chunk in zip(run.groups, run.chunks, strict=True):
            rows = 0
            try:
                before = rows_before_plain(bytes_of_file, chunk)
                for batch in _rows(file, run.at_once, group, wanted, 0, before):
                    rows += len(batch)
                    yield _sound(batch, wanted)
                for pages in plain_pages(bytes_of_file, chunk, before, CHUNK_BYTES):
                    # What a header does not tell is found out too late for pages that others have
                    # by then: each of these costs a look through the group. So no more are given.
                    if odd.is_set():
                        raise OddError
                    packed = PackedTexts(path, state, chunk, bool(level), pages, odd)
                    read = partial(_unpacked, packed, group, rows, run.at_once, wanted)
                    yield Piece(packed.documents, None, read, packed.size)
                    rows += packed.documents
            except OddError:
                for batch in _rows(file, run.at_once, group, wanted, rows, chunk.rows):
                    yield _sound(batch, wanted)


def _rows(
    file: Any, at_once: int, group: int, wanted: Wanted, first: int, last: int
) -> Iterator[pa.RecordBatch]:
    """The rows of a group from one to another, read by pyarrow.

    Of a damaged page it may give fewer rows than there are, without a word.
    """
    if first == last:
        return
    place = 0
    for batch in file.iter_batches(min(at_once, last), [group], wanted.columns):
        begin = max(0, first - place)
        if begin < len(batch):
            yield batch.slice(begin, last - place - begin)
        place += len(batch)
        if place >= last:
            return
    raise pa.ArrowInvalid(f"a group of {last} rows or more holds {place}")


def _unpacked(
    packed: PackedTexts, group: int, first: int, at_once: int, wanted: Wanted
) -> pa.RecordBatch:
    """The texts of pages, which begin with this row of a group; pyarrow reads odd ones."""
    texts = packed.unpacked()
    if texts is None:
        last = first + packed.documents
        with parquet_file(packed.path) as file:
            batches = list(_rows(file, at_once, group, wanted, first, last))
        texts = pa.concat_arrays([batch.column(0).cast(pa.string()) for batch in batches])
    return pa.record_batch([repaired(texts)], names=wanted.columns)


def _plain_text_level(file: Any, wanted: Wanted) -> int | None:
    """How deep the only column wanted is: 1 if it may have gaps, else 0; None if it is no text."""
    (name,) = wanted.columns if len(wanted.columns) == 1 else (None,)
    if name is None or not is_plain_text(file.schema_arrow.field(name).type):
        return None
    leaves = map(file.schema.column, range(len(file.schema)))
    levels = [
        leaf.max_definition_level
        for leaf in leaves
        if leaf.path == name and leaf.max_repetition_level == 0
    ]
    return levels[0] if len(levels) == 1 and levels[0] in (0, 1) else None


def _sound(batch: pa.RecordBatch, wanted: Wanted) -> Piece:
    """The same rows, once the values kept are known to be such; the documents are looked at later.

    Text that is not UTF-8 is repaired, as it is in other formats.
    """
    batch = batch.select(wanted.columns)
    columns = batch.columns
    for place, column in enumerate(columns):
        if wanted.columns[place] == wanted.column:
            continue
        columns[place] = repaired(column) if is_plain_text(column.type) else column
        columns[place].validate(full=True)
    return Piece.of(pa.record_batch(columns, names=batch.schema.names), None)


class _Run(NamedTuple):
    """Groups of rows that are read together, so many rows at once, and their columns if known."""

    groups: list[int]
    at_once: int
    chunks: list[Chunk]


def _runs(path: Path, file: BinaryIO, count: int, columns: Sequence[str]) -> Iterator[_Run]:
    """The groups of rows one after the other, small ones together."""
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
        yield _Run(list(range(begin, end)), at_once, list(chain(*chunks[begin:end])))
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
