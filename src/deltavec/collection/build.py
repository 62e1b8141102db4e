"""Build a collection from a corpus. It appears in its place when it is complete."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from deltavec.collection import ids
from deltavec.collection.manifest import (
    COLLECTION_FOLDER,
    DTYPES,
    MODEL,
    CollectionManifest,
    StoredSegment,
    WordsFile,
    file_path,
    save_manifest,
    writing,
)
from deltavec.collection.segment import ID, TEXT, map_vectors
from deltavec.collection.segment_writer import (
    OnProgress,
    StoredColumns,
    first_terms,
    write_scale,
    write_segment,
    write_words,
)
from deltavec.core.arguments import require_one_of
from deltavec.core.model import EmbeddingModel
from deltavec.core.statistics import TextCounts
from deltavec.core.text.batches import Tokenizer, as_strings, as_text_batch
from deltavec.core.text.external import NamedTokenizer
from deltavec.core.text.rules import TextBatch
from deltavec.core.threads import cancellable, ordered_map
from deltavec.errors import CorpusError, InputError, ModelError
from deltavec.io.artifacts.model import save
from deltavec.io.corpus.columns import Piece
from deltavec.io.corpus.corpus import open_corpus, read_corpus
from deltavec.io.corpus.files import COLUMN, PATH, Reading
from deltavec.io.output.embed_to_file import Progress
from deltavec.search.hybrid.score_scale import ScoreScale
from deltavec.search.lexical.writer import PostingsWriter
from deltavec.training import fit

if TYPE_CHECKING:
    from deltavec.collection.collection import Collection


def build_collection(
    model: Any,
    corpus: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    id_column: str | None = None,
    keep: Sequence[str] = (),
    title: str | None = None,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
    on_stage: Callable[[str], None] | None = None,
    as_collection: bool = True,
    stems: bool = True,
    dtype: str = "float32",
) -> Collection:
    """Build a collection: documents with their vectors and an inverted index, in a folder.

    ``build_collection(corpus, path)`` fits a model on the documents first. Give a model that you
    have as ``build_collection(model, corpus, path)``.

    Parameters
    ----------
    model
        A fitted model; may be left out. See `as_collection`.
    corpus
        A `Corpus`, or whatever `deltavec.read_corpus` reads. It is read several times.
    path
        The folder; by custom its name ends in ``.idx``. A collection that is there is replaced
        atomically at the end. Anything else is left alone.
    id_column
        The column of unique ids, text or whole numbers. By default documents that are files have
        their paths as ids, and others are numbered from 0.
    keep
        Other columns to store, to show with results and to filter by.
    title
        A column of titles. They are put before the texts, on a line of their own: the first 25
        words of a document count twice in keyword and hybrid search.
    threads
        How many cores to use; all of them by default.
    on_progress
        Called after each chunk of documents, in each pass.
    on_stage
        Called with a word or two when each pass begins.
    as_collection
        Whether to adapt the model to the documents first (`EmbeddingModel.for_collection`).
    stems
        Whether a query word matches all of its forms, which are learned from the documents.
    dtype
        How vectors are stored. ``float16`` takes half the room on disk and rounds to 11 bits;
        search is exact for the rounded vectors. Opening converts them, so processes do not share
        them in memory.

    Raises
    ------
    InputError
        Before anything is written, if a column is missing, the corpus can be read only once, or
        something else is in the folder's place; later, if an id occurs twice.

    Examples
    --------
    >>> news = build_collection("news.csv", "news.idx")  # doctest: +SKIP
    >>> news.search("storm and flooding")  # doctest: +SKIP
    """
    if path is None:
        model, corpus, path = None, model, cast(str, corpus)
    target = Path(path)
    if not isinstance(model, EmbeddingModel | None):
        raise InputError(f"expected a fitted model, got {type(model).__name__}")
    COLLECTION_FOLDER.require_replaceable(target)
    require_one_of("dtype", dtype, DTYPES)
    with writing(target):
        documents = open_corpus(
            corpus, Reading(expected=model.notes.get(COLUMN) if model else None)
        )
        if id_column is None and documents.whole_files:
            id_column = PATH
        columns = StoredColumns.of(documents, id_column, keep, title=title)
        if model is None:
            model = fit(documents, threads=threads, on_stage=on_stage)
        require_tokenizer(model)
        return build_locked(
            model, columns, target, title or "", as_collection, stems, dtype, threads, on_progress,
            on_stage or (lambda stage: None),
        )  # fmt: skip


def build_locked(
    model: EmbeddingModel,
    columns: StoredColumns,
    target: Path,
    title: str,
    as_collection: bool,
    stems: bool,
    dtype: str,
    threads: int | None,
    on_progress: OnProgress | None,
    begin: Callable[[str], None],
) -> Collection:
    """What `build_collection` gives, with the lock for writing held."""
    from deltavec.collection.open import open_latest

    derived = as_collection and model.recipe.depends_on_documents
    if derived and columns.corpus.one_shot:
        raise CorpusError(
            f"{columns.corpus.name} can be read only once; a collection with the recipe "
            f"{model.recipe.name} needs two passes, the first to adapt the model to it: write the "
            "documents to a file, or leave the model as it is (as_collection=False, "
            "--no-collection-model)"
        )
    with (
        COLLECTION_FOLDER.replacing(target) as fresh,
        PostingsWriter(fresh) as writer,
        ThreadPoolExecutor(2, "deltavec") as pool,
    ):
        if derived:
            begin("adapting the model")
            first_pass = CountingPass(columns, model.tokenizer, writer, on_progress)
            model = model.for_collection(first_pass, threads=threads)
        begin("embedding")
        stopped = Event()

        def list_terms() -> WordsFile:
            with cancellable(lambda: not stopped.is_set()):
                terms = partial(first_terms, model, stems=stems)
                return write_words(writer, file_path(fresh, "words", 1), terms)

        try:
            saved = pool.submit(save_model, model, fresh / MODEL)
            # Terms counted in the first pass are written while documents are embedded.
            listing = pool.submit(list_terms) if derived else None
            written = write_segment(
                model, columns, fresh, 1, dtype=dtype, postings=None if derived else writer,
                threads=threads, on_progress=on_progress,
            )  # fmt: skip
            if columns.id_column and not derived:
                ids.require_unique(written.ids)
        except BaseException:
            stopped.set()
            raise
        begin("listing words")
        listed = listing.result() if listing else list_terms()
        vectors = map_vectors(fresh, written.files[1], model.dimensions, dtype)
        scale = write_scale(file_path(fresh, "scale", 1), ScoreScale.of(vectors, threads))
        saved.result()
        manifest = CollectionManifest(
            model=model.fingerprint,
            own_model=derived,
            dimensions=model.dimensions,
            dtype=dtype,
            id_column=columns.id_column,
            text_column=columns.corpus.column,
            title_column=title,
            columns=columns.keep,
            segments=(StoredSegment(*written.files, listed),),
            scale=scale,
            zero_rows=written.zero_rows,
            length_error=written.length_error,
            built=written.counts,
            added=TextCounts(),
            additions=0,
        )
        save_manifest(fresh, manifest)
    return open_latest(target, model)


def refit(
    opened: Collection,
    *,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
    on_stage: Callable[[str], None] | None = None,
) -> Collection:
    """Fit a model on the documents of a collection and build it anew; see `Collection.refit`."""
    from deltavec.collection.open import refresh

    model, stated = opened.model, opened.description
    if model.recipe.needs_vectors and not model.notes.get("vectors", "").startswith("trained"):
        raise InputError(
            f"{opened.path}: its model was made with word vectors, which it does not hold: fit a "
            "new model with them, and build the collection with it"
        )
    if not stated.id_column and stated.removed:
        raise InputError(
            f"{opened.path}: its documents are numbered, some were removed, and a new build would "
            "number the others anew: build it from your files"
        )
    begin = on_stage or (lambda stage: None)
    stems = bool(opened.words.words.segments[0].rules.endings)
    begin("fitting")
    fresh = fit(
        opened.column(TEXT), recipe=model.recipe, tokenizer=model.tokenizer_name,
        normalization=model.normalization, threads=threads, on_stage=on_stage,
    )  # fmt: skip
    with writing(opened.path):
        current = refresh(opened)  # what was written meanwhile is built, too
        names = [stated.id_column or ID, stated.text_column, *stated.columns]
        table = current.store.columns([ID, TEXT, *stated.columns]).rename_columns(names)
        corpus = read_corpus(table, column=stated.text_column)  # its texts have their titles
        return build_locked(
            fresh, StoredColumns.of(corpus, stated.id_column or None, stated.columns), opened.path,
            stated.title_column, stated.own_model, stems, stated.dtype, threads, on_progress, begin,
        )  # fmt: skip


def save_model(model: EmbeddingModel, folder: Path) -> None:
    """Save the model, and compute its fingerprint, which takes as long as a checksum."""
    save(model, folder)
    _ = model.fingerprint


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
class CountingPass:
    """The texts of a corpus, batch by batch, to adapt a model to.

    Ids are checked on the way, and terms are counted by the writer.
    """

    columns: StoredColumns
    tokenizer: Tokenizer
    writer: PostingsWriter
    on_progress: OnProgress | None
    one_shot = False

    def __iter__(self) -> Iterator[TextBatch]:
        found: list[pa.Array] = []
        done = 0
        with self.columns.pieces(keep=False) as pieces:
            for piece, texts in ordered_map(self._with_texts, pieces):
                if self.columns.id_column:
                    found.append(self.columns.ids(piece, done))
                self.writer.add(texts)
                yield texts
                done += len(piece.batch)
                if self.on_progress:
                    self.on_progress(Progress(done, piece.consumed))
        if not done:
            raise CorpusError(f"{self.columns.corpus.name} holds no documents")
        ids.require_unique(found)

    def _with_texts(self, piece: Piece) -> tuple[Piece, TextBatch]:
        """A piece, unpacked, and its texts."""
        return piece, as_text_batch(as_strings(piece.batch.column(0)), self.tokenizer)
