"""Arrow columns as documents: which types are text, invalid UTF-8, and chunks of bounded size.

Every reader of a corpus ends here. Whatever a file or a frame holds becomes batches whose first
column is the documents, as Arrow ``string``, valid UTF-8, in chunks of a few megabytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.core.arguments import did_you_mean
from deltavec.core.text.batches import is_text
from deltavec.errors import CorpusError
from deltavec.io.corpus.blocks import LARGEST_RECORD

CHUNK_BYTES = 8 << 20
CHUNK_DOCUMENTS = 65_536


class Piece(NamedTuple):
    """A batch of documents.

    Attributes
    ----------
    batch : pyarrow.RecordBatch
        The documents in the first column, then the columns kept.
    consumed : float or None
        Fraction of the source read so far; None where the size of the source is unknown.
    """

    batch: pa.RecordBatch
    consumed: float | None


def text_schema(columns: Sequence[str]) -> pa.Schema:
    """Columns of text."""
    return pa.schema([(column, pa.string()) for column in columns])


def show_columns(columns: Sequence[str]) -> str:
    """Column names for an error message, the first 20."""
    return ", ".join(repr(name) for name in columns[:20]) + (", ..." if len(columns) > 20 else "")


def require_columns(where: str, wanted: Sequence[str], names: Sequence[str]) -> None:
    """Raise a CorpusError unless each wanted column is there exactly once."""
    for column in wanted:
        count = names.count(column)
        if count == 0:
            there = f"its columns are {show_columns(names)}" if names else "it has no columns"
            raise CorpusError(
                f"{where}: no column {column!r}; {there}{did_you_mean(column, names)}"
            )
        if count > 1:
            raise CorpusError(
                f"{where}: {count} columns are called {column!r}; expected one: rename the others"
            )


def require_text(where: str, column: str, found: pa.DataType) -> None:
    """Raise a CorpusError unless a column of this type can hold documents."""
    value = found.value_type if pa.types.is_dictionary(found) else found
    if is_text(value) or pa.types.is_null(value):
        return
    advice = "name the column that holds the documents"
    if pa.types.is_list(value) or pa.types.is_large_list(value):
        advice = "join the words with spaces (tokenizer 'whitespace'), or pass the lists themselves"
    elif pa.types.is_binary(value) or pa.types.is_large_binary(value):
        advice = "cast the column to string"
    raise CorpusError(f"{where}: column {column!r} must be text, found {found}; {advice}")


def is_plain_text(found: pa.DataType) -> bool:
    """Whether an Arrow type is string or large_string."""
    return bool(pa.types.is_string(found) or pa.types.is_large_string(found))


def repair_utf8(array: pa.Array) -> pa.Array:
    """The same Arrow strings, with U+FFFD for invalid UTF-8 as with ``errors="replace"``."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        values = array.cast(pa.binary() if pa.types.is_string(array.type) else pa.large_binary())
        texts = [value and value.decode("utf-8", "replace") for value in values.to_pylist()]
        return pa.array(texts, array.type)
    return array


def bounded(
    pieces: Iterable[Piece], chunk_bytes: int = CHUNK_BYTES, chunk_documents: int = CHUNK_DOCUMENTS
) -> Iterator[Piece]:
    """The same documents in chunks of about `chunk_bytes` of text, as Arrow ``string``.

    Large batches are split and small ones joined, so that one large file and thousands of small
    ones give chunks of the same size. A chunk has at least one document, however long.
    """
    pending: list[pa.RecordBatch] = []
    size = documents = 0
    consumed: float | None = None
    for batch, total in pieces:
        for part, part_size in _cut(batch, chunk_bytes, chunk_documents):
            if size + part_size > chunk_bytes or documents + len(part) > chunk_documents:
                yield from _join(pending, consumed)
                pending, size, documents = [], 0, 0
            pending.append(part)
            size, documents, consumed = size + part_size, documents + len(part), total
    yield from _join(pending, consumed)


def _join(batches: list[pa.RecordBatch], consumed: float | None) -> Iterator[Piece]:
    if len(batches) > 1:  # several again where columns beside the text exceed 2 GB
        batches = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return (Piece(batch, consumed) for batch in batches)


def _cut(
    batch: pa.RecordBatch, chunk_bytes: int, chunk_documents: int
) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Slices of a batch within both bounds, and the bytes of text in each."""
    try:
        documents = _as_text(batch.column(0))
        sizes = text_sizes(documents)
    except pa.ArrowIndexError as error:
        raise CorpusError(
            f"the column {batch.schema.names[0]!r} is damaged: a dictionary index points outside "
            f"the dictionary ({error}); write the documents again"
        ) from error
    if sizes.max(initial=0) > LARGEST_RECORD:
        raise CorpusError(
            f"a document has {sizes.max():,} bytes, more than the {LARGEST_RECORD:,} that one may "
            "have; split it into several"
        )
    ends = np.cumsum(sizes)
    # Slices of about the same size: a small rest would be joined with what comes next, and copied.
    whole = int(ends[-1]) if len(ends) else 0
    at_once = whole // max(1, -(-whole // chunk_bytes)) + 1
    start, before = 0, 0
    while start < batch.num_rows:
        fits = int(np.searchsorted(ends, before + min(chunk_bytes, at_once), side="right"))
        stop = min(max(fits, start + 1), start + chunk_documents)
        size = int(ends[stop - 1]) - before
        # Slice first, then decode and cast: a string array holds 2 GB, a large_string column may
        # hold more, and a dictionary may decode to more than fits into memory.
        text = documents.slice(start, stop - start)
        if pa.types.is_dictionary(text.type):
            text = text.dictionary.take(text.indices)
        text = repair_utf8(text).cast(pa.string())
        part = batch.slice(start, stop - start)
        yield pa.record_batch([text, *part.columns[1:]], names=batch.schema.names), size
        start, before = stop, before + size


def _as_text(documents: pa.Array) -> pa.Array:
    """The documents as strings that have lengths: plain ones, or a dictionary of them."""
    if pa.types.is_dictionary(documents.type):
        texts = _as_text(documents.dictionary)
        return pa.DictionaryArray.from_arrays(documents.indices, texts)
    return documents if is_plain_text(documents.type) else documents.cast(pa.large_string())


def text_sizes(documents: pa.Array) -> npt.NDArray[np.int64]:
    """The bytes of text in each document."""
    import pyarrow.compute as pc

    if pa.types.is_dictionary(documents.type):
        lengths = pc.binary_length(documents.dictionary).take(documents.indices)
    else:
        lengths = pc.binary_length(documents)
    if lengths.null_count:
        lengths = pc.fill_null(lengths, 0)
    if not len(lengths):  # its buffer may be missing
        return np.zeros(0, np.int64)
    # Not to_numpy, nor a fill where nothing is to be filled: either imports pandas.
    kind = np.int64 if pa.types.is_int64(lengths.type) else np.int32
    numbers = np.frombuffer(lengths.buffers()[1], kind)
    return numbers[lengths.offset : lengths.offset + len(lengths)].astype(np.int64)


# How missing values are written.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")

DAY = "[12][0-9]{3}-[01][0-9]-[0-3][0-9]"
CLOCK = r"[T ][0-2][0-9]:[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
ZONE = "(Z|[+-][0-2][0-9]:?[0-5][0-9])"
DATE_PARTS = "([0-9]+)[./]([0-9]+)[./]([0-9]+)"


WHOLE = "-?(0|[1-9][0-9]*)"
MOST_DIGITS = 15  # that a float keeps, whatever they are


class Kind(NamedTuple):
    """How the values of a type are written.

    Attributes
    ----------
    pattern : str
        A regular expression that every value matches.
    type : pyarrow.DataType
        Their type.
    order : str
        For dates in another order: the replacement that puts year, month and day in order.
    """

    pattern: str
    type: pa.DataType
    order: str = ""

    def values(self, texts: Any) -> Any | None:
        """The texts as values, nulls left as they are; None if one of them is no such value."""
        import pyarrow.compute as pc

        if pc.all(pc.match_substring_regex(texts, f"^({self.pattern})$")).as_py() is False:
            return None
        if self.order:
            texts = pc.replace_substring_regex(texts, r"\b([0-9])\b", r"0\1")
            texts = pc.replace_substring_regex(texts, DATE_PARTS, self.order)
        if self.type == pa.float64():
            digits = pc.replace_substring_regex(texts, r"^-?0?\.?0*|\.|e.*$", "")
            if (pc.max(pc.utf8_length(digits)).as_py() or 0) > MOST_DIGITS:
                return None
        try:
            return texts.cast(self.type)
        except pa.ArrowInvalid:  # the 30th of February
            return None


# The first that fits all values is the type; if days could be months, the column stays text.
KINDS = {
    "boolean": Kind("(?i:true|false)", pa.bool_()),
    "integer": Kind("0|-?[1-9][0-9]{0,17}", pa.int64()),
    "number": Kind(f"{WHOLE}(\\.0|(\\.[0-9]*[1-9])?(e[+-][0-9]{{2}})?)", pa.float64()),
    **{
        f"{places} decimals": Kind(f"{WHOLE}\\.[0-9]{{{places}}}", pa.float64())
        for places in range(1, 7)
    },
    "date": Kind(DAY, pa.date32()),
    "time": Kind(f"{DAY}({CLOCK})?", pa.timestamp("us")),
    "time with zone": Kind(DAY + CLOCK + ZONE, pa.timestamp("us", "UTC")),
    "31.12.2024": Kind(r"[0-3]?[0-9]\.[01]?[0-9]\.[12][0-9]{3}", pa.date32(), r"\3-\2-\1"),
    "2024/12/31": Kind("[12][0-9]{3}/[01]?[0-9]/[0-3]?[0-9]", pa.date32(), r"\1-\2-\3"),
    "31/12/2024": Kind("[0-3]?[0-9]/[01]?[0-9]/[12][0-9]{3}", pa.date32(), r"\3-\2-\1"),
    "12/31/2024": Kind("[01]?[0-9]/[0-3]?[0-9]/[12][0-9]{3}", pa.date32(), r"\3-\1-\2"),
}
EITHER = {"31/12/2024", "12/31/2024"}


class Seen:
    """The types that fit all values of a column so far."""

    def __init__(self) -> None:
        self.kinds = list(KINDS)
        self.empty = True

    def look_at(self, column: Any) -> None:
        """Add more values."""
        texts = without_missing(column)
        if texts.null_count == len(texts):
            return
        self.empty = False
        self.kinds = [name for name in self.kinds if KINDS[name].values(texts) is not None]

    @property
    def kind(self) -> Kind | None:
        """The type of the column; None for text."""
        if self.empty or not self.kinds or {*self.kinds} >= EITHER:
            return None
        return KINDS[self.kinds[0]]


def without_missing(column: Any) -> Any:
    """Texts without surrounding space, with nulls for missing values."""
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(column)
    nothing = pc.is_in(texts, pa.array(MISSING, texts.type))
    return pc.if_else(nothing, pa.scalar(None, texts.type), texts)
