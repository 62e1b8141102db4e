"""From a corpus to the files of a collection, in one pass and bounded memory.

Stems are learned when a collection is built. Words that come later follow the same rules: a word
that is known keeps its term, a new one joins the forms of a known word or starts a term, and no two
terms become one. Only words with the same first letters can be forms of one, so only these are
compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from deltavec.collection import ids
from deltavec.collection.manifest import RowsFile, StoredFile, WordsFile, file_path
from deltavec.collection.segment import (
    CHECKSUMS,
    HEADER_BYTES,
    ID,
    TEXT,
    checksum,
    deleted_layout,
    map_vectors,
    rows_layout,
    scale_layout,
    vectors_layout,
)
from deltavec.collection.topics.names import function_words
from deltavec.core.arrays import Float32s, Int32s, Int64s, UInt64s, blocks, offsets_of
from deltavec.core.kernels import hashing
from deltavec.core.learning.stemming import Rules, Stems, WordRows, learn_stems
from deltavec.core.model import EmbeddingModel
from deltavec.core.statistics import TextCounts, warn_low_coverage
from deltavec.core.text.batches import as_strings, is_text
from deltavec.core.text.rules import is_marked
from deltavec.core.threads import ordered_map
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import CorpusError, InputError
from deltavec.io.artifacts.atomic import flush_to_disk, on_disk
from deltavec.io.artifacts.tensors import DTYPES, Arrays, Layout, write_tensors
from deltavec.io.corpus.columns import Piece, without_missing
from deltavec.io.corpus.corpus import Corpus
from deltavec.io.output.embed_to_file import Progress, embedded_pieces, pieces_ahead
from deltavec.io.output.shards import EmbeddedRows, check_writable, in_shards, zero_rows
from deltavec.search.hybrid.score_scale import ScoreScale
from deltavec.search.lexical.index import InvertedIndex, word_prefixes
from deltavec.search.lexical.writer import PostingsWriter, WordTerms
from deltavec.search.matrix import as_rows, length_error
from deltavec.search.quantized.build import FEWEST_NUMBERS, FEWEST_OF_MANY, as_arrays, quantize

OnProgress = Callable[[Progress], None]
Mask = npt.NDArray[np.bool_]

# All of a group is checked when one of its documents is first read.
GROUP_DOCUMENTS = 256
GROUP_BYTES = 1 << 18  # of text
COPIED_AT_ONCE = 16 << 20  # bytes of vectors


@dataclass(frozen=True)
class StoredColumns:
    """Which columns of a corpus go into a collection.

    Attributes
    ----------
    corpus : Corpus
        The documents.
    id_column : str
        The column of the ids; empty to number the documents.
    keep : tuple of str
        The columns kept beside id and text.
    schema : pyarrow.Schema
        What is stored.
    title : str
        A column of titles, which go before the texts; empty if there is none.
    """

    corpus: Corpus
    id_column: str
    keep: tuple[str, ...]
    schema: pa.Schema
    title: str = ""

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        id_column: str | None,
        keep: Sequence[str],
        schema: pa.Schema | None = None,
        title: str | None = None,
    ) -> StoredColumns:
        """The columns asked for, if the corpus has them and they can be stored.

        Columns of text files get the types that all their values fit, unless the collection has
        a schema already, in which they are text. Ids stay as they are written.
        """
        if isinstance(keep, str):
            raise InputError(f"keep must be a list of columns, got the string {keep!r}")
        if id_column == corpus.column:
            raise InputError(f"the column {id_column!r} holds the text; name another for the ids")
        kept = tuple(name for name in dict.fromkeys(keep) if name not in (corpus.column, id_column))
        for name, what in ((ID, "ids"), (TEXT, "texts")):
            if name in kept:
                raise InputError(
                    f"a column called {name!r} cannot be kept beside the {what}, which have that "
                    f"name: let it hold the {what}, or rename it"
                )
        corpus = corpus.typed(
            [name for name in kept if schema is None or not is_text(schema.field(name).type)]
        )
        found = corpus.schema([name for name in (id_column, title) if name] + [*kept])
        if title and (title == corpus.column or not is_text(found.field(title).type)):
            raise InputError(f"the title column {title!r} must hold text, beside that of the texts")
        if id_column:
            ids.require_id_type(id_column, found.field(id_column).type)
        stored = pa.schema([found.field(name).with_nullable(True) for name in kept])
        check_writable(stored)
        plain = [pa.field(field.name, plain_type(field.type)) for field in stored]
        fresh = pa.schema([(ID, pa.string()), (TEXT, pa.string()), *plain])
        return cls(corpus, id_column or "", kept, fresh if schema is None else schema, title or "")

    @contextmanager
    def pieces(self, keep: bool = True) -> Iterator[Iterator[Piece]]:
        """The documents with their ids and the columns kept, or only with ids, read ahead."""
        names = [name for name in (self.id_column, self.title) if name]
        with pieces_ahead(self.corpus, [*names, *(self.keep if keep else ())]) as pieces:
            yield map(self._with_title, pieces) if self.title else pieces

    def _with_title(self, piece: Piece) -> Piece:
        """A piece whose texts begin with their titles: what comes first counts twice."""
        import pyarrow.compute as pc

        batch = piece.batch
        parts = [as_strings(one).cast(pa.string()) for one in (batch[self.title], batch[0])]
        texts = pc.utf8_trim_whitespace(pc.binary_join_element_wise(*parts, "\n"))
        return piece._replace(batch=batch.set_column(0, batch.schema.names[0], texts))

    def ids(self, piece: Piece, first: int) -> pa.Array:
        """The ids of a piece's documents, of which the first has this number."""
        if not self.id_column:
            return ids.number_rows(first, len(piece.batch))
        return ids.as_ids(piece.batch.column(self.id_column), self.id_column, first)

    def stored(self, batch: pa.RecordBatch, texts: pa.Array, names: pa.Array) -> pa.RecordBatch:
        """A batch of the corpus as it is stored, with its texts and ids."""
        columns = [names, texts]
        for field in list(self.schema)[2:]:
            column = batch.column(field.name)
            try:
                columns.append(cast_column(column, field.type))
            except pa.ArrowException as error:
                raise CorpusError(
                    f"{self.corpus.name}: column {field.name!r} holds {column.type}, in the "
                    f"collection it is {field.type}, and a value does not fit ({error})"
                ) from error
        return pa.record_batch(columns, schema=self.schema)


def cast_column(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """The values of a column as another type; an ArrowException if one does not fit."""
    if is_text(column.type) and not is_text(kind):
        column = without_missing(column)
    is_number = pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    if is_number and pa.types.is_temporal(kind):
        raise pa.ArrowInvalid("a number is no date")
    return column.cast(kind)


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the same values without a dictionary: a file may have only one for all groups.

    Examples
    --------
    >>> plain_type(pa.list_(pa.dictionary(pa.int32(), pa.string())))
    ListType(list<item: string>)
    """
    types = pa.types
    if types.is_dictionary(kind):
        return plain_type(kind.value_type)
    if types.is_struct(kind):
        return pa.struct([field.with_type(plain_type(field.type)) for field in kind])
    if types.is_map(kind):
        return pa.map_(plain_type(kind.key_type), plain_type(kind.item_type), kind.keys_sorted)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        field = kind.value_field.with_type(plain_type(kind.value_type))
        if types.is_fixed_size_list(kind):
            return pa.list_(field, kind.list_size)
        return pa.large_list(field) if types.is_large_list(kind) else pa.list_(field)
    return kind


class NewFile:
    """A file that something of each document is written to."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.documents = 0
        self.file = path.open("xb")  # a Python file: its error tells of a full disk

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.file.close()


class SegmentWriter(NewFile):
    """A file that documents are written to, a group at a time."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        super().__init__(path)
        self.schema = schema
        self.writer = pa.ipc.new_file(self.file, schema)

    def write(self, batches: Sequence[pa.RecordBatch]) -> None:
        """Write documents as one group."""
        table = pa.Table.from_batches(batches, self.schema).combine_chunks()
        for batch in table.to_batches():
            # As it will be read: a slice still has all bytes of what it was cut from.
            alone = pa.ipc.read_record_batch(batch.serialize(), self.schema)
            sums = b"".join(map(checksum, alone.columns))
            self.writer.write_batch(alone, custom_metadata={CHECKSUMS: sums})
        self.documents += len(table)

    def finish(self) -> StoredFile:
        """Close the file; what was written is on disk then."""
        self.writer.close()
        self.file.close()
        return StoredFile(self.path.name, self.documents, *on_disk(self.path))


def split_groups(rows: Iterable[EmbeddedRows]) -> Iterator[list[pa.RecordBatch]]:
    """The documents in groups small enough to be read for a single document."""
    for group in in_shards(rows, GROUP_DOCUMENTS, GROUP_BYTES):
        yield [part.kept for part in group]


class VectorsWriter(NewFile):
    """A file that vectors are written to, row after row."""

    def __init__(self, path: Path, dimensions: int, dtype: str) -> None:
        super().__init__(path)
        self.dimensions = dimensions
        self.dtype = dtype
        self.zero_rows = 0
        self.length_error = 0.0
        self.digest = hashlib.sha256()
        self.file.write(bytes(HEADER_BYTES))

    def write(self, vectors: Float32s) -> None:
        """Write some more rows."""
        for part in blocks(len(vectors), COPIED_AT_ONCE // (4 * self.dimensions) or 1):
            stored = np.ascontiguousarray(vectors[part], np.dtype(self.dtype).newbyteorder("<"))
            self.file.write(stored.data.cast("B"))
            self.digest.update(stored.data.cast("B"))
            rows = as_rows(stored, "vectors")
            self.zero_rows += zero_rows(rows)
            self.length_error = max(self.length_error, length_error(rows, "vectors"))
        self.documents += len(vectors)

    def finish(self) -> StoredFile:
        """Close the file; what was written is on disk then."""
        self.file.seek(0)
        layout = vectors_layout(self.documents, self.dimensions, self.dtype)
        self.file.write(layout.header)
        self.file.close()
        flush_to_disk(self.path)
        return StoredFile(self.path.name, self.documents, layout.size, self.digest.hexdigest())


class WrittenSegment(NamedTuple):
    """What one pass has written: documents, vectors and rows, and what it counted."""

    files: tuple[StoredFile, StoredFile, RowsFile]
    zero_rows: int
    length_error: float
    counts: TextCounts
    ids: list[pa.Array]


def write_segment(
    model: EmbeddingModel,
    columns: StoredColumns,
    folder: Path,
    number: int,
    *,
    dtype: str,
    postings: PostingsWriter | None,
    first: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> WrittenSegment:
    """Write the documents of a corpus and their vectors to new files.

    Parameters
    ----------
    model
        What makes the vectors.
    columns
        The corpus, and what is kept of it.
    folder, number
        Where the files go, and the number in their names.
    dtype
        The type of the vectors that are stored.
    postings
        What counts the terms; None if they are counted already.
    first
        The number of the first document.
    threads
        How many cores to use; all of them by default.
    on_progress
        Called after each chunk of documents.
    """
    names: list[pa.Array] = []
    counts = TextCounts()

    def rows(pieces: Iterable[Piece]) -> Iterator[EmbeddedRows]:
        nonlocal counts
        done = 0
        for made in embedded_pieces(model, pieces, threads):
            names.append(columns.ids(made.piece, first + done))
            if postings:
                postings.add(made.texts)
            counts += made.found.counts
            stored = columns.stored(made.piece.batch, made.documents, names[-1])
            yield EmbeddedRows(stored, made.sizes, made.found.vectors)
            done += len(stored)
            if on_progress:
                on_progress(Progress(done, made.piece.consumed))

    def write_vectors(part: EmbeddedRows) -> EmbeddedRows:
        vectors.write(part.vectors)
        return part

    with (
        VectorsWriter(file_path(folder, "vectors", number), model.dimensions, dtype) as vectors,
        SegmentWriter(file_path(folder, "documents", number), columns.schema) as documents,
        columns.pieces() as pieces,
    ):
        # Vectors many at once, documents in groups, each in a thread beside the embedding.
        written = ordered_map(write_vectors, rows(pieces))
        for _ in ordered_map(documents.write, split_groups(written)):
            pass
        if not documents.documents:
            raise CorpusError(f"{columns.corpus.name} holds no documents")
        warn_low_coverage(counts)
        stored = documents.finish(), vectors.finish()
    mapped = map_vectors(folder, stored[1], model.dimensions, dtype)
    hashes = np.concatenate([ids.hash_ids(some) for some in names])
    fewest = FEWEST_NUMBERS if number == 1 else FEWEST_OF_MANY
    codes = write_rows(file_path(folder, "rows", number), mapped, hashes, threads, fewest)
    measured = vectors.zero_rows, vectors.length_error
    return WrittenSegment((*stored, codes), *measured, counts, names)


def write_words(
    writer: PostingsWriter, path: Path, terms_of: Callable[[Vocabulary], WordTerms]
) -> WordsFile:
    """Write the postings of the terms that were counted to a new file."""
    sizes = asdict(writer.finish(path, terms_of))
    return WordsFile(name=path.name, **on_disk(path)._asdict(), **sizes)


def write_rows(
    path: Path,
    vectors: Float32s,
    hashes: UInt64s,
    threads: int | None = None,
    fewest: int = FEWEST_OF_MANY,
) -> RowsFile:
    """Write the codes of vectors, if they are many, and the hashes of ids to a new file."""
    made = quantize(vectors, threads) if vectors.size >= fewest else None
    heads = made.directions.shape[1] + 1 if made and made.directions.shape[1] else 0
    order = np.argsort(hashes, kind="stable")
    planned = RowsFile(path.name, len(vectors), 0, "", int(made is not None), heads)
    layout = rows_layout(planned, vectors.shape[1])
    empty = {
        name: np.zeros(one.shape, DTYPES[one.dtype])
        for name, one in layout.tensors.items()
        if not prod(one.shape)
    }
    arrays = {
        **empty,
        "id_hashes": hashes[order],
        "id_rows": order,
        **(as_arrays(made) if made else {}),
    }
    return replace(planned, **write_file(path, layout, arrays))


def write_deleted(path: Path, rows: Int64s) -> StoredFile:
    """Write the deleted documents of a segment to a new file."""
    return StoredFile(
        path.name, len(rows), **write_file(path, deleted_layout(len(rows)), {"rows": rows})
    )


def write_scale(path: Path, scale: ScoreScale) -> StoredFile:
    """Write sums over vectors to a new file."""
    arrays = {"moment": scale.moment, "total": scale.total}
    written = write_file(path, scale_layout(len(scale.total)), arrays)
    return StoredFile(path.name, scale.rows, **written)


def write_file(path: Path, layout: Layout, arrays: Arrays) -> dict[str, Any]:
    """Write arrays to a new file; its size and checksum, once it is on disk."""
    with path.open("xb") as file:
        write_tensors(file, layout, arrays)
    return on_disk(path)._asdict()


@lru_cache(maxsize=1)
def formless_words(model: EmbeddingModel) -> list[str]:
    """The words of a model that have no other forms."""
    words = bare_words(model.vocabulary, model).words
    counts = zip(words, model.statistics.document_counts.tolist(), strict=True)
    return sorted(function_words({word: n for word, n in counts if word[:1] != "\0"}))


def bare_words(vocabulary: Vocabulary, model: EmbeddingModel) -> Vocabulary:
    """The words as they are written; n-grams are replaced by numbers, which have no forms."""
    if not model.gram:
        return vocabulary
    words = enumerate(vocabulary.words)
    return Vocabulary.of(word[1:-1] if is_marked(word) else f"\0{n}" for n, word in words)


def word_rows(model: EmbeddingModel, vocabulary: Vocabulary) -> WordRows:
    """The rows of bare words in the embedding table of a model."""
    if model.gram:
        rows = WordRows.of_texts(vocabulary, model)
    else:
        rows = WordRows.of(vocabulary, model.vocabulary, model.table)
    function = vocabulary.ids(formless_words(model))
    return rows._replace(formless=function[function >= 0])


def first_terms(model: EmbeddingModel, vocabulary: Vocabulary, stems: bool) -> WordTerms:
    """The terms of the first words of a collection."""
    found = Stems.none(len(vocabulary))
    if stems:
        bare = bare_words(vocabulary, model)
        found = learn_stems(bare, word_rows(model, bare))
    return WordTerms(found.groups, np.arange(len(vocabulary)), found.rules)


def further_terms(model: EmbeddingModel, index: InvertedIndex, vocabulary: Vocabulary) -> WordTerms:
    """The terms of the words of further documents."""
    groups = np.full(len(vocabulary), -1, np.int32)
    for segment in index.segments:
        if len(segment.words):
            table = segment.words.table
            ids = hashing.look_up_all(vocabulary.data, vocabulary.offsets, table)
            groups[ids >= 0] = segment.groups[ids[ids >= 0]]
    new = np.flatnonzero(groups < 0)
    if len(new):
        groups[new] = terms_of_new(model, index, vocabulary.taken(new))
    return WordTerms(groups, new, Rules.none())


def terms_of_new(model: EmbeddingModel, index: InvertedIndex, fresh: Vocabulary) -> Int32s:
    """The terms of words that no segment has."""
    prefixes = np.unique(word_prefixes(fresh))
    near = [np.flatnonzero(np.isin(one.prefixes, prefixes)) for one in index.segments]
    parts = [one.words.taken(some) for one, some in zip(index.segments, near, strict=True)]
    known = np.concatenate(
        [one.groups[some] for one, some in zip(index.segments, near, strict=True)]
    )
    lengths = np.concatenate([np.diff(part.offsets) for part in (*parts, fresh)])
    both = Vocabulary(np.concatenate([part.data for part in (*parts, fresh)]), offsets_of(lengths))
    before = np.unique(known, return_inverse=True)[1]
    stems = Stems(before.astype(np.int32), index.segments[0].rules)
    bare = bare_words(both, model)
    after = stems.extended(bare, word_rows(model, bare)).groups
    # Groups are numbered anew: those of known words have their terms, others get the next ones.
    terms = np.full(int(after.max(initial=-1)) + 1, -1, np.int64)
    terms[after[: len(known)]] = known
    unnamed = np.flatnonzero(terms < 0)
    terms[unnamed] = index.terms + np.arange(len(unnamed))
    return terms[after[len(known) :]].astype(np.int32)
