"""Documents that are added to a collection, or take the place of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deltavec.collection import ids
from deltavec.collection.changes.rewriting import Before, Mask, rewrite
from deltavec.collection.folder import changing, next_number, vectors_name, write_description
from deltavec.collection.manifest import CollectionManifest
from deltavec.collection.segment_writer import OnProgress, Segment, StoredColumns, write_segment
from deltavec.collection.store import ID, DocumentStore
from deltavec.collection.vectors import VectorsWriter
from deltavec.collection.words import open_postings, postings_writer
from deltavec.core.model import EmbeddingModel
from deltavec.errors import InputError
from deltavec.io.corpus.corpus import opened_corpus
from deltavec.io.corpus.files import Reading


def append(
    folder: Path,
    model: EmbeddingModel,
    corpus: Any,
    *,
    update: bool = False,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> None:
    """Add documents to a collection; see `Collection.add`."""
    with changing(folder, model.fingerprint) as stated:
        documents = opened_corpus(corpus, Reading(expected=stated.text_column))
        if update and not stated.id_column:
            raise InputError(
                f"{folder}: its documents are numbered, none has an id to be updated by: build "
                "the collection with an id column, or add without updating"
            )
        before = open_current(folder, stated)
        columns = StoredColumns.of(
            documents, stated.id_column or None, stated.columns, before.store.schema
        )
        known = before.words and before.words.words
        with postings_writer(folder, before.words is not None, known) as writer:
            number = next_number(folder)
            with VectorsWriter(folder / vectors_name(number), stated.dimensions) as vectors:
                fresh = write_segment(
                    model, columns, folder, number, vectors,
                    words=writer, first=stated.documents + stated.removed, threads=threads,
                    on_progress=on_progress,
                )  # fmt: skip
            keep = keep_beside(fresh, before, update)
            after = rewrite(before, model, keep, writer=writer, fresh=fresh, threads=threads)
        write_description(folder, after)


def open_current(folder: Path, stated: CollectionManifest) -> Before:
    """What a collection is before it changes; its words are compared with their checksum."""
    words = None
    if stated.words:
        words = open_postings(folder, stated.words, stated.dimensions, verify=True)
    return Before(folder, stated, DocumentStore(folder, stated.segments, stated.columns), words)


def keep_beside(fresh: Segment, before: Before, update: bool) -> Mask | None:
    """Which documents stay when new ones come; all, unless those with their ids are replaced."""
    if not before.description.id_column:
        return None
    there = before.store.columns([ID]).column(0)
    if not update:
        ids.require_unique([*there.chunks, *fresh.ids])
        return None
    ids.require_unique(fresh.ids)
    keep = ids.unknown_id(there, fresh.ids)
    return None if keep.all() else keep
