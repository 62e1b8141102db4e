"""Documents in Excel workbooks: the rows of the first sheet.

Rows are streamed from the file; only the strings that cells share are held in memory, as the format
stores them in one place. Cells become text as in a CSV file, so that numbers, dates and booleans
get their types in the same way.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from deltavec.core.text.batches import string_array
from deltavec.errors import CorpusError, needing
from deltavec.io.corpus.blocks import unreadable
from deltavec.io.corpus.columns import Piece

ROWS = 1024  # at once
LARGEST_PART = 1 << 30  # bytes of what is held in memory: shared strings, styles, names
EXACT = 1e15  # below, a float is a whole number only if it was written as one


class Sheet(NamedTuple):
    """A sheet, while its workbook is open.

    Attributes
    ----------
    names : list of str
        The header: the first row that is not blank.
    rows : iterator of tuple
        The rows below.
    note : str or None
        Which sheet it is, if there are others.
    """

    names: list[str]
    rows: Iterator[tuple[Any, ...]]
    note: str | None


@contextmanager
def open_sheet(path: Path) -> Iterator[Sheet]:
    """The first sheet of a workbook; damage is a CorpusError."""
    with needing("excel", f"{path}: save the sheet as .csv, or to read it as it is"):
        import openpyxl
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
            f"{path}: not an Excel workbook (.xlsx), or damaged, or with a password "
            f"({type(error).__name__}: {str(error)[:100]}); save it again, or as .csv"
        ) from error


def _first_sheet(path: Path, book: Any) -> Sheet:
    sheet = book.worksheets[0]
    sheet.reset_dimensions()  # some programs write them wrong
    rows = sheet.iter_rows(values_only=True)
    header = next((row for row in rows if any(cell is not None for cell in row)), ())
    others = f"{path}: the first of {len(book.worksheets)} sheets is read, {sheet.title!r}"
    names = [_text(cell) or "" for cell in header]
    return Sheet(names, rows, others if len(book.worksheets) > 1 else None)


def excel_pieces(path: Path, columns: Sequence[str]) -> Iterator[Piece]:
    """Some columns of the first sheet, without its blank rows."""
    with open_sheet(path) as sheet:
        positions = [sheet.names.index(name) for name in columns]
        rows = (row for row in sheet.rows if any(cell is not None for cell in row))
        while batch := list(islice(rows, ROWS)):
            arrays = [
                string_array(
                    [_text(row[position]) if position < len(row) else None for row in batch],
                    pa.string(),
                )
                for position in positions
            ]
            yield Piece(pa.record_batch(arrays, names=columns), None)


def _text(cell: Any) -> str | None:
    """A cell as in a CSV file."""
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


def _require_bounded(path: Path) -> None:
    """Refuse a workbook that would take too much memory."""
    from zipfile import ZipFile

    with ZipFile(path) as archive:
        held = [part for part in archive.infolist() if "worksheets/" not in part.filename]
    size = sum(part.file_size for part in held)
    if size > LARGEST_PART:
        raise CorpusError(
            f"{path}: decompresses to {size:,} bytes of strings that cells share, more than "
            f"{LARGEST_PART:,}; save the sheet as .csv"
        )
