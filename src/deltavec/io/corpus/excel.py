"""Documents in workbooks of Excel's: the rows of the first sheet, one after another.

Rows are streamed from the file; only the texts that cells share are held in memory, as the format
has them in one place. Cells become text as a csv file would have it, so that numbers, dates and
booleans find their types in the same way.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from deltavec.core.text.batches import string_array
from deltavec.errors import CorpusError, needing
from deltavec.io.corpus.blocks import unreadable
from deltavec.io.corpus.columns import CHUNK_BYTES, Piece
from deltavec.io.corpus.formats import Wanted, text_schema

ROWS = 4096  # at once
LARGEST_PART = 1 << 30  # bytes of what is held in memory: shared texts, styles, names
EXACT = 1e15  # below, a float is a whole number only if it was written as one


class Sheet(NamedTuple):
    """A sheet, while its workbook is open.

    Attributes
    ----------
    names : list of str
        The header: the first row with something in it.
    rows : iterator of tuple
        The rows below.
    stated : int
        How many there are, as the sheet says; 0 if it does not.
    note : str or None
        Which sheet it is, if there are others.
    """

    names: list[str]
    rows: Iterator[tuple[Any, ...]]
    stated: int
    note: str | None


@contextmanager
def opened_sheet(path: Path) -> Iterator[Sheet]:
    """The first sheet of a workbook, while the context lasts; what is damaged is a CorpusError."""
    openpyxl = _reader(path)
    try:
        with path.open("rb") as file:  # a path would have to end in .xlsx
            _require_bounded(path)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of styles and extensions, which are not read
                book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            with closing(book):
                yield _first_sheet(path, book)
    except (CorpusError, MemoryError):
        raise
    except OSError as error:
        raise unreadable(str(path), error) from error
    except Exception as error:  # a damaged part shows as whatever its parser stumbles over
        raise CorpusError(
            f"{path}: not a workbook of Excel's (.xlsx), or damaged, or with a password "
            f"({type(error).__name__}: {str(error)[:100]}); save it again, or as .csv"
        ) from error


def _first_sheet(path: Path, book: Any) -> Sheet:
    sheet = book.worksheets[0]
    stated = sheet.max_row or 0
    sheet.reset_dimensions()  # some programs write them wrong
    rows = sheet.iter_rows(values_only=True)
    header = next((row for row in rows if any(cell is not None for cell in row)), ())
    others = f"{path}: the first of {len(book.worksheets)} sheets is read, {sheet.title!r}"
    names = [_text(cell) or "" for cell in header]
    return Sheet(names, rows, stated, others if len(book.worksheets) > 1 else None)


def excel_head(path: Path) -> tuple[pa.Schema, str | None]:
    """The columns of a workbook's first sheet, and a note if there are others."""
    with opened_sheet(path) as sheet:
        if not sheet.names:
            raise CorpusError(f"{path}: empty; expected a header row with column names")
        return text_schema(sheet.names), sheet.note


def excel_pieces(path: Path, wanted: Wanted) -> Generator[Piece]:
    """The documents and columns wanted, and the fraction of the rows read."""
    with opened_sheet(path) as sheet:
        places = [sheet.names.index(name) for name in wanted.columns]
        done = 0
        for rows in _in_batches(sheet.rows, places):
            done += len(rows)
            columns = zip(*rows, strict=True)
            arrays = [string_array(column, pa.string()) for column in columns]
            consumed = min(1.0, done / sheet.stated) if sheet.stated else None
            yield Piece(pa.record_batch(arrays, names=wanted.columns), consumed)


def _in_batches(
    rows: Iterator[tuple[Any, ...]], places: list[int]
) -> Iterator[list[tuple[str | None, ...]]]:
    """The wanted cells of rows, blank rows left out, in batches of bounded size."""
    batch: list[tuple[str | None, ...]] = []
    size = 0
    for row in rows:
        if all(cell is None for cell in row):
            continue
        cells = tuple(_text(row[place]) if place < len(row) else None for place in places)
        batch.append(cells)
        size += sum(len(cell) for cell in cells if cell)
        if len(batch) == ROWS or size >= CHUNK_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _text(cell: Any) -> str | None:
    """A cell as a csv file would have it."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < EXACT:
        return str(int(cell))
    if isinstance(cell, datetime):
        day = cell.time() == time() and cell.tzinfo is None
        return cell.date().isoformat() if day else cell.isoformat(" ")
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)


def _reader(path: Path) -> Any:
    with needing("excel", f"{path}: save the sheet as .csv, or to read it as it is"):
        import openpyxl
    return openpyxl


def _require_bounded(path: Path) -> None:
    """Refuse a workbook of which more than is sensible would be held in memory."""
    from zipfile import ZipFile

    with ZipFile(path) as archive:
        held = [part for part in archive.infolist() if "worksheets/" not in part.filename]
    size = sum(part.file_size for part in held)
    if size > LARGEST_PART:
        raise CorpusError(
            f"{path}: unfolds to {size:,} bytes of texts that cells share, more than "
            f"{LARGEST_PART:,}; save the sheet as .csv"
        )
