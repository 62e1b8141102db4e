"""Collections from a corpus, and words for one that has none: whole at every moment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from deltavec.collection import ids
from deltavec.collection.folder import (
    COLLECTION_FOLDER,
    MODEL,
    changing,
    disk_problems,
    next_number,
    vectors_name,
    write_description,
    writing,
)
from deltavec.collection.manifest import CollectionManifest, WordsFile
from deltavec.collection.segment_writer import OnProgress, Segment, StoredColumns, write_segment
from deltavec.collection.store import DocumentStore
from deltavec.collection.vectors import VectorsWriter
from deltavec.collection.words import postings_writer, write_postings
from deltavec.core.model import EmbeddingModel
from deltavec.core.statistics import TextCounts
from deltavec.core.text.batches import Tokenizer, as_strings, as_text_batch
from deltavec.core.text.external import NamedTokenizer
from deltavec.core.text.rules import TextBatch
from deltavec.core.threads import cancellable, ordered_map
from deltavec.errors import CorpusError, InputError, ModelError
from deltavec.io.artifacts.atomic import replacing_folder
from deltavec.io.artifacts.model import save
from deltavec.io.corpus.columns import Piece
from deltavec.io.corpus.corpus import opened_corpus
from deltavec.io.corpus.files import COLUMN, Reading
from deltavec.io.output.embed_to_file import Progress
from deltavec.io.output.read_ahead import pieces_ahead
from deltavec.search.lexical.writer import PostingsWriter

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection


def build_collection(
    model: EmbeddingModel,
    corpus: Any,
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    keep: Sequence[str] = (),
    threads: int | None = None,
    on_progress: OnProgress | None = None,
    on_stage: Callable[[str], None] | None = None,
    as_collection: bool = True,
    words: bool = True,
    stems: bool = True,
) -> Collection:
    """A new collection: the documents of a corpus with their vectors, in a folder.

    Parameters
    ----------
    model
        A fitted model; see `as_collection`.
    corpus
        A `Corpus`, or whatever `deltavec.read_corpus` reads. Read twice if the model is adapted.
    path
        The folder; by custom it ends in ``.idx``. A collection that stands there is replaced at
        the very end, and stays whole until then; anything else is left alone.
    id_column
        The column that holds the ids, text or whole numbers, each once. Without it documents are
        numbered from 0 on.
    keep
        Other columns to store: to be shown with what is found, and to filter by.
    threads
        How many cores to use; all of them by default.
    on_progress
        Called after each chunk of documents, in each pass.
    on_stage
        Called with a word or two when each pass begins.
    as_collection
        Whether to adapt the model to the documents first (`EmbeddingModel.for_collection`), so
        that they are compared as they should be. Otherwise it is used as it is.
    words
        Whether to store which documents hold each word, so that documents are found by words too,
        not by meaning alone. It takes about 5 bytes for each different word of a document.
    stems
        Whether words are found in all their forms, which are learned from the documents.

    Raises
    ------
    InputError
        Before anything is written, if a column is not there, the corpus can be read only once and
        must be read twice, or something else stands in the folder's place; later, if an id comes
        twice.
    """
    from deltavec.collection.open import open_beside

    begin = on_stage or (lambda stage: None)
    target = Path(path)
    if not isinstance(model, EmbeddingModel):
        raise InputError(f"expected a fitted model, got {type(model).__name__}")
    require_tokenizer(model)
    COLLECTION_FOLDER.require_replaceable(target)
    documents = opened_corpus(corpus, Reading(expected=model.notes.get(COLUMN)))
    columns = StoredColumns.of(documents, id_column, keep)
    derived = as_collection and model.recipe.depends_on_documents
    if derived and columns.corpus.one_shot:
        raise CorpusError(
            f"{columns.corpus.name} can be read only once; a collection with the recipe "
            f"{model.recipe.name} needs two passes, the first to adapt the model to it: write the "
            "documents to a file, or leave the model as it is (as_collection=False, "
            "--no-collection-model)"
        )
    with (
        disk_problems(target),
        writing(target),
        replacing_folder(target, COLLECTION_FOLDER.remove) as fresh,
    ):
        with postings_writer(fresh, words) as writer:
            if derived:
                begin("adapting the model")
                first_pass = CountingPass(columns, model.tokenizer, writer, on_progress)
                model = model.for_collection(first_pass, threads=threads)
            plan = Plan(
                model, columns, fresh, writer, derived, stems, threads, on_progress, begin
            )  # fmt: skip
            written, listed = plan.carried_out()
        description = CollectionManifest(
            model=model.fingerprint,
            own_model=derived,
            dimensions=model.dimensions,
            id_column=columns.id_column,
            text_column=columns.corpus.column,
            columns=columns.keep,
            vectors=written.vectors,
            segments=(written.documents,),
            zero_rows=written.zero_rows,
            length_error=written.length_error,
            built=written.counts,
            added=TextCounts(),
            additions=0,
            words=listed,
        )
        write_description(fresh, description)
    return open_beside(target, model)


def require_tokenizer(model: EmbeddingModel) -> None:
    """Refuse a model whose tokenizer cannot be stored, or that is not trusted."""
    if isinstance(model.tokenizer, NamedTokenizer):
        model.tokenizer.imported()
    elif not isinstance(model.tokenizer, str):
        raise ModelError(
            "a collection is stored with its model, and files hold no code such as a tokenizer of "
            "your own: name it (tokenizer='module:function'), or fit with tokenizer='words' or "
            "'whitespace'"
        )


@dataclass(frozen=True)
class Plan:
    """What is left to do when the model is known: all of it at once, as far as that goes.

    Attributes
    ----------
    model : EmbeddingModel
        The model of the collection.
    columns : StoredColumns
        The corpus, and what is kept of it.
    folder : Path
        Where the files go.
    writer : WordsWriter or None
        What takes in the words; None if they are left out.
    is_second_pass : bool
        Whether the documents were read before: their words are taken in then, and their ids known
        to be unique.
    stems : bool
        Whether words are found in all their forms.
    threads : int or None
        How many cores to use.
    on_progress, begin : callable
        Who is told.
    """

    model: EmbeddingModel
    columns: StoredColumns
    folder: Path
    writer: PostingsWriter | None
    is_second_pass: bool
    stems: bool
    threads: int | None
    on_progress: OnProgress | None
    begin: Callable[[str], None]

    def carried_out(self) -> tuple[Segment, WordsFile | None]:
        """The documents and their words, written, as is the model."""
        self.begin("embedding")
        with ThreadPoolExecutor(2, "deltavec") as beside, await_all() as embedded:
            saving = beside.submit(self._save)
            # Words that are taken in already need no more than a moment when all is embedded.
            listing = beside.submit(self._list_words, embedded) if self.is_second_pass else None
            written = self._embed()
            embedded.set_result(written)
            if self.columns.id_column and not self.is_second_pass:
                ids.require_unique(written.ids)
            saving.result()
            if self.writer:
                self.begin("listing words")
            return written, listing.result() if listing else self._list_words(embedded)

    def _save(self) -> None:
        save(self.model, self.folder / MODEL)
        _ = self.model.fingerprint  # which is kept, and takes as long as a checksum does

    def _embed(self) -> Segment:
        with VectorsWriter(self.folder / vectors_name(1), self.model.dimensions) as vectors:
            return write_segment(
                self.model, self.columns, self.folder, 1, vectors,
                words=None if self.is_second_pass else self.writer,
                threads=self.threads, on_progress=self.on_progress,
            )  # fmt: skip

    def _list_words(self, embedded: Future[Segment]) -> WordsFile | None:
        if not self.writer:
            return None
        with cancellable(lambda: not embedded.cancelled()):
            return write_postings(
                self.writer, self.folder, 1, self.model, lambda: embedded.result().vectors,
                stems=self.stems, threads=self.threads,
            )  # fmt: skip


@contextmanager
def await_all() -> Iterator[Future[Segment]]:
    """What other threads wait for; cancelled if it fails to come."""
    coming: Future[Segment] = Future()
    try:
        yield coming
    except BaseException:
        coming.cancel()
        raise


class CountingPass:
    """The texts of a corpus, chunk by chunk, on the way to a model.

    The ids are looked at too, and the words taken in by the writer, if there is one.
    """

    one_shot = False

    def __init__(
        self,
        columns: StoredColumns,
        tokenizer: Tokenizer,
        writer: PostingsWriter | None,
        on_progress: OnProgress | None,
    ) -> None:
        self.columns = columns
        self.tokenizer = tokenizer
        self.writer = writer
        self.on_progress = on_progress
        self.ids: list[pa.Array] = []

    def __iter__(self) -> Iterator[TextBatch]:
        done = 0
        read = [self.columns.id_column] if self.columns.id_column else []
        with pieces_ahead(self.columns.corpus, read) as pieces:
            for piece, texts in ordered_map(self._with_texts, pieces):
                if read:
                    self.ids.append(self.columns.ids(piece, done))
                if self.writer:
                    self.writer.add(texts)
                yield texts
                done += len(piece.batch)
                if self.on_progress:
                    self.on_progress(Progress(done, piece.consumed))
        if not done:
            raise CorpusError(f"{self.columns.corpus.name} holds no documents")
        ids.require_unique(self.ids)

    def _with_texts(self, piece: Piece) -> tuple[Piece, TextBatch]:
        """A piece, unpacked, and its texts."""
        return piece, as_text_batch(as_strings(piece.batch.column(0)), self.tokenizer)


def add_postings(
    folder: Path,
    model: EmbeddingModel,
    *,
    stems: bool = True,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> None:
    """Give a collection its words, from the texts it holds; see `Collection.with_words`."""
    with changing(folder, model.fingerprint) as before:
        store = DocumentStore(folder, before.segments, before.columns)
        with PostingsWriter(folder) as writer:
            done = 0
            for texts in store.texts():
                writer.add(as_text_batch(texts, model.tokenizer))
                done += len(texts)
                if on_progress:
                    on_progress(Progress(done, done / before.documents))
            listed = write_postings(
                writer, folder, next_number(folder), model, lambda: before.vectors,
                stems=stems, threads=threads,
            )  # fmt: skip
        write_description(folder, replace(before, words=listed))
