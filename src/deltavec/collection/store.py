"""Ids, texts and columns of a collection, read from its files as they are asked for.

To show ten results ten documents are read, never all texts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.collection.documents.arrow import ArrowDocuments, ArrowWriter, storable
from deltavec.collection.folder import COLLECTION_FOLDER
from deltavec.collection.manifest import StoredFile
from deltavec.errors import InputError
from deltavec.io.artifacts.manifest import problems_of, require_size, require_unchanged
from deltavec.io.corpus.columns import text_sizes
from deltavec.io.output.shards import EmbeddedRows, in_shards

ID, TEXT = "id", "text"
# All of a group is looked at when one of its documents is first read.
GROUP_DOCUMENTS = 256
GROUP_BYTES = 1 << 18  # of text


def documents_schema(kept: pa.Schema) -> pa.Schema:
    """The columns of a file: id, text, and those kept."""
    return pa.schema([(ID, pa.string()), (TEXT, pa.string()), *storable(kept)])


def split_groups(rows: Iterable[EmbeddedRows]) -> Iterator[list[EmbeddedRows]]:
    """The rows in groups small enough to be read for a single document."""
    return in_shards(rows, GROUP_DOCUMENTS, GROUP_BYTES)


class DocumentStore:
    """The documents of a collection, read from disk as they are asked for.

    Parameters
    ----------
    folder
        Where the files are.
    segments
        The files, as the collection describes them.
    columns
        The columns they must have beside id and text.
    """

    def __init__(
        self, folder: Path, segments: Sequence[StoredFile], columns: Sequence[str]
    ) -> None:
        self.folder = folder
        self.segments = segments
        self.files = [self._opened(segment, columns) for segment in segments]
        self.paths = [folder / segment.name for segment in segments]
        self.schema = storable(self.files[0].schema)
        self.as_described = [file.schema.equals(self.schema) for file in self.files]
        sizes = [file.sizes for file in self.files]
        self.groups = [(file, group) for file, own in enumerate(sizes) for group in range(len(own))]
        self.begins = np.concatenate([[0], np.cumsum([size for own in sizes for size in own])])

    def rows(self, numbers: npt.NDArray[np.int64]) -> pa.Table:
        """The documents at these places, in this order."""
        groups = np.searchsorted(self.begins, numbers, side="right") - 1
        read = {group: self._group(group) for group in np.unique(groups).tolist()}
        places = (numbers - self.begins[groups]).tolist()
        found = [
            read[group].slice(place, 1)
            for group, place in zip(groups.tolist(), places, strict=True)
        ]
        return pa.concat_tables([pa.Table.from_batches([], self.schema), *found])

    def entries(self, numbers: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
        """The same as Python has them: for a few, quicker than a table of them.

        Raises
        ------
        OverflowError, ValueError
            If there is a value that Python does not have, such as a date before the year 1.
        """
        groups = np.searchsorted(self.begins, numbers, side="right") - 1
        places = (numbers - self.begins[groups]).tolist()
        names, found = self.schema.names, []
        for batch, place in zip(self._read(groups.tolist()), places, strict=True):
            values = [column[place].as_py() for column in batch.columns]
            found.append(dict(zip(names, values, strict=True)))
        return found

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Some columns of all documents."""
        schema = pa.schema([self.schema.field(name) for name in names])
        tables = []
        for path, file in zip(self.paths, self.files, strict=True):
            with DamageOf(path):
                tables.append(as_schema(file.columns(names), schema))
            if ID in names and tables[-1].column(ID).null_count:
                raise InputError(f"{path}: a document has no id: the file is damaged")
        return pa.concat_tables(tables)

    def texts(self) -> Iterator[pa.Array]:
        """All texts, a group at a time."""
        for number in range(len(self.groups)):
            yield self._group(number).column(TEXT).combine_chunks()

    def merged(self, path: Path, keep: npt.NDArray[np.bool_] | None = None) -> StoredFile:
        """The documents that are kept, all of them by default, in a new file."""

        def rows() -> Iterator[EmbeddedRows]:
            for number, first in enumerate(self.begins[:-1].tolist()):
                table = self._group(number)
                if keep is not None:
                    table = table.filter(pa.array(keep[first : first + len(table)]))
                for batch in table.to_batches():
                    none = np.zeros((len(batch), 0), np.float32)
                    yield EmbeddedRows(batch, text_sizes(batch.column(TEXT)), none)

        with ArrowWriter(path, self.schema) as writer:
            for group in split_groups(rows()):
                writer.write([part.kept for part in group])
            return writer.finished()

    def require_unchanged(self) -> None:
        """Refuse files of which a bit has changed."""
        for path, segment in zip(self.paths, self.segments, strict=True):
            with problems_of(path), path.open("rb") as file:
                require_unchanged(file, segment.sha256)

    def _group(self, number: int) -> pa.Table:
        (found,) = self._read([number])
        return pa.Table.from_batches([found]) if isinstance(found, pa.RecordBatch) else found

    def _read(self, numbers: Sequence[int]) -> list[pa.RecordBatch | pa.Table]:
        """Groups of documents, those that stand in one file and follow each other at once."""
        found: list[pa.RecordBatch | pa.Table] = []
        for file, wanted in itertools.groupby(
            [self.groups[number] for number in numbers], key=lambda group: group[0]
        ):
            with DamageOf(self.paths[file]):
                read = self.files[file].groups([group for _, group in wanted])
            found += read if self.as_described[file] else map(self._as_described, read)
        return found

    def _as_described(self, found: pa.RecordBatch | pa.Table) -> pa.Table:
        table = pa.Table.from_batches([found]) if isinstance(found, pa.RecordBatch) else found
        return as_schema(table, self.schema)

    def _opened(self, segment: StoredFile, columns: Sequence[str]) -> ArrowDocuments:
        path = self.folder / segment.name
        with COLLECTION_FOLDER.opened(path) as stored:
            require_size(stored, segment.bytes)
        with DamageOf(path):
            file = ArrowDocuments(path)
            names = [ID, TEXT, *columns]
            kinds = {file.schema.field(place).type for place in range(min(2, len(file.schema)))}
            same = file.schema.names == names and kinds == {pa.string()}
            if not same or sum(file.sizes) != segment.documents:
                raise InputError(f"{path}: other columns or documents than described: damaged")
            return file


def as_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table with columns of these types."""
    return table if table.schema.equals(schema) else table.cast(schema)


class DamageOf:
    """Within it, what cannot be read is an error that names the file.

    Written out: every document of an answer is read within one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, InputError):
            return
        if isinstance(error, OSError | ValueError | pa.ArrowException):
            raise InputError(f"{self.path}: the file is damaged ({error})") from error
