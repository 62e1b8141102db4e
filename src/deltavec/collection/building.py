"""Collections from a corpus, and more documents for one: whole at every moment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from deltavec.collection import ids
from deltavec.collection.coverage import TextCounts
from deltavec.collection.description import Description, StoredFile
from deltavec.collection.documents import DocumentStore, merged
from deltavec.collection.folder import (
    MODEL,
    disk_problems,
    next_number,
    read_description,
    remove_unnamed,
    replacing_collection,
    require_replaceable,
    write_description,
    writing,
)
from deltavec.collection.vectors import VectorsWriter, mapped_vectors
from deltavec.collection.writing import Columns, OnProgress, write_segment
from deltavec.core.model import EmbeddingModel
from deltavec.errors import CorpusError, InputError, ModelError
from deltavec.io.corpora import read_corpus
from deltavec.io.sinks import Progress
from deltavec.io.storage import save

OnStage = Callable[[str], None]


def build(
    model: EmbeddingModel,
    corpus: Any,
    path: str | os.PathLike[str],
    *,
    id_column: str | None = None,
    keep: Sequence[str] = (),
    threads: int | None = None,
    on_progress: OnProgress | None = None,
    on_stage: OnStage | None = None,
    as_collection: bool = True,
) -> None:
    """Write a new collection to a folder; see `deltavec.build_collection`."""
    begin = on_stage or (lambda stage: None)
    target = Path(path)
    if not isinstance(model, EmbeddingModel):
        raise InputError(f"expected a fitted model, got {type(model).__name__}")
    if not isinstance(model.tokenizer, str):
        raise ModelError(
            "a collection holds its model, and one with a tokenizer of your own cannot be saved: "
            "fit with tokenizer='words' or 'whitespace'"
        )
    require_replaceable(target)
    columns = Columns.of(read_corpus(corpus), id_column, keep)
    derived = as_collection and depends_on_documents(model)
    if derived and columns.corpus.one_shot:
        raise CorpusError(
            f"{columns.corpus.name} can be read only once; a collection with the recipe "
            f"{model.recipe.name} needs two passes, the first to adapt the model to it: write the "
            "documents to a file, or leave the model as it is (as_collection=False, "
            "--no-collection-model)"
        )
    with disk_problems(target), writing(target), replacing_collection(target) as fresh:
        if derived:
            begin("adapting the model")
            model = FirstPass(columns, on_progress).model_for(model, threads)
        save(model, fresh / MODEL)
        begin("embedding")
        number = 1
        with VectorsWriter(fresh / f"vectors-{number:06}.safetensors", model.dimensions) as vectors:
            written = write_segment(
                model, columns, fresh, number, vectors, threads=threads, on_progress=on_progress
            )
        if columns.id_column and not derived:
            ids.require_unique(written.ids)
        description = Description(
            model=model.fingerprint,
            own_model=derived,
            dimensions=model.dimensions,
            id_column=columns.id_column,
            text_column=columns.corpus.column,
            columns=columns.keep,
            vectors=written.vectors,
            segments=(written.documents,),
            zero_rows=written.zero_rows,
            built=written.counts,
            added=TextCounts(),
            additions=0,
        )
        write_description(fresh, description)


def depends_on_documents(model: EmbeddingModel) -> bool:
    """Whether `EmbeddingModel.for_collection` learns anything from the documents."""
    return model.recipe.form == "spectral" or model.recipe.n_components_removed > 0


class FirstPass:
    """The texts of a corpus, chunk by chunk, on the way to a model; the ids are looked at too."""

    one_shot = False

    def __init__(self, columns: Columns, on_progress: OnProgress | None) -> None:
        self.columns = columns
        self.on_progress = on_progress
        self.ids: list[pa.Array] = []

    def __iter__(self) -> Iterator[pa.Array]:
        done = 0
        read = [self.columns.id_column] if self.columns.id_column else []
        for batch, consumed in self.columns.corpus.pieces(read):
            if read:
                self.ids.append(self.columns.ids(batch, done))
            yield batch.column(0).fill_null("")
            done += len(batch)
            if self.on_progress:
                self.on_progress(Progress(done, consumed))
        if not done:
            raise CorpusError(f"{self.columns.corpus.name} holds no documents")
        ids.require_unique(self.ids)

    def model_for(self, model: EmbeddingModel, threads: int | None) -> EmbeddingModel:
        """The model for comparing the documents of the corpus with each other."""
        return model.for_collection(self, threads=threads)


def append(
    folder: Path,
    model: EmbeddingModel,
    corpus: Any,
    *,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> None:
    """Add documents to a collection; see `Collection.add`."""
    documents = read_corpus(corpus)
    with writing(folder):
        before = read_description(folder)
        if before.model != model.fingerprint:
            raise InputError(f"{folder} was built anew since it was opened: open it again")
        remove_unnamed(folder, before)
        store = DocumentStore(folder, before.segments, before.columns)
        columns = Columns.of(documents, before.id_column or None, before.columns)
        columns = replace(columns, schema=store.schema)
        number = next_number(folder)
        with disk_problems(folder):
            try:
                after = appended(
                    folder, before, store, model, columns, number, threads, on_progress
                )
            except BaseException:
                remove_unnamed(folder, before)
                raise
            write_description(folder, after)
        remove_unnamed(folder, after)


def appended(
    folder: Path,
    before: Description,
    store: DocumentStore,
    model: EmbeddingModel,
    columns: Columns,
    number: int,
    threads: int | None,
    on_progress: OnProgress | None,
) -> Description:
    """The description of the collection with the documents of a corpus at its end."""
    old = mapped_vectors(folder, before.vectors, before.dimensions)
    path = folder / f"vectors-{number:06}.safetensors"
    with VectorsWriter(path, before.dimensions) as vectors:
        vectors.copy(old, before.vectors, before.zero_rows)
        written = write_segment(
            model,
            columns,
            folder,
            number,
            vectors,
            first=before.documents,
            threads=threads,
            on_progress=on_progress,
        )
    if columns.id_column:
        there = store.columns(["id"]).column(0).chunks
        ids.require_unique([*there, *written.ids])
    return replace(
        before,
        vectors=written.vectors,
        segments=joined(folder, [*before.segments, written.documents], number + 1),
        zero_rows=written.zero_rows,
        added=before.added + written.counts,
        additions=before.additions + 1,
    )


def joined(folder: Path, segments: list[StoredFile], number: int) -> tuple[StoredFile, ...]:
    """The segments, the last ones made one as long as the one before is no larger.

    So there are never more of them than twice the logarithm of the documents, however often some
    are added, and each document is written again only that often.
    """
    first, size = len(segments) - 1, segments[-1].documents
    while first > 0 and segments[first - 1].documents <= size:
        first -= 1
        size += segments[first].documents
    if first == len(segments) - 1:
        return tuple(segments)
    paths = [folder / segment.name for segment in segments[first:]]
    return (*segments[:first], merged(paths, folder / f"documents-{number:06}.parquet"))
