"""Collections opened: files compared with what the description says of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from deltavec.collection.collection import Collection
from deltavec.collection.folder import COLLECTION_FOLDER, MODEL, read_description
from deltavec.collection.manifest import CollectionManifest
from deltavec.collection.map.storage import open_map
from deltavec.collection.store import DocumentStore
from deltavec.collection.vectors import map_vectors, require_unchanged_vectors
from deltavec.collection.words import open_postings
from deltavec.core.arrays import Float32s
from deltavec.core.model import EmbeddingModel
from deltavec.errors import InputError
from deltavec.io.artifacts.manifest import problems_of
from deltavec.io.artifacts.model import load
from deltavec.search import Index
from deltavec.search.index import index_of_rows


def open_collection(
    path: str | os.PathLike[str], *, verify: bool = True, trust: bool = False
) -> Collection:
    """The collection in a folder.

    Parameters
    ----------
    path
        What `build_collection` wrote.
    verify
        Whether to read everything once, to see that no bit of it has changed. Without it only
        sizes and descriptions are looked at, and each text when it is read.
    trust
        Whether to import the tokenizer that its model names, if that is code of others: see
        `deltavec.load`. Without, such a collection takes queries as lists of words, and refuses
        whatever parts a text.

    Raises
    ------
    InputError
        If the folder is missing, damaged, no collection, or written by a newer version.
    """

    def opened(folder: Path, stated: CollectionManifest) -> Collection:
        return collection_of(
            folder, stated, verify, load(folder / MODEL, verify=verify, trust=trust)
        )

    return open_latest(Path(path), opened)


def open_beside(path: Path, known: EmbeddingModel) -> Collection:
    """The collection in a folder, with the tokenizer of a model at hand if it names the same."""

    def opened(folder: Path, stated: CollectionManifest) -> Collection:
        return collection_of(folder, stated, False, model_beside(folder, known))

    return open_latest(path, opened)


def model_beside(folder: Path, known: EmbeddingModel) -> EmbeddingModel:
    """The model of a collection; code that it names is that of the known one, or not imported."""
    model = load(folder / MODEL, verify=False)
    same = model.tokenizer == known.tokenizer
    return replace(model, tokenizer=known.tokenizer) if same else model


def refresh(collection: Collection) -> Collection:
    """The collection as it is on disk now; the very same if nothing has changed.

    What has not changed is not opened again. Only sizes and descriptions are looked at.
    """

    def reopened(folder: Path, stated: CollectionManifest) -> Collection:
        if stated == collection.description:
            return collection
        same = stated.model == collection.description.model
        model = collection.model if same else model_beside(folder, collection.model)
        return collection_of(folder, stated, False, model)

    return open_latest(collection.path, reopened)


def open_latest(
    folder: Path, opened: Callable[[Path, CollectionManifest], Collection]
) -> Collection:
    """The collection that is opened by its description, which somebody may change meanwhile."""
    while True:
        description = read_description(folder)
        try:
            return opened(folder, description)
        except InputError:
            if read_description(folder) == description:
                raise
            # The files it named are gone, and others there: once more.


def collection_of(
    folder: Path, description: CollectionManifest, verify: bool, model: EmbeddingModel
) -> Collection:
    """The collection of a description, with its model."""
    same = model.dimensions == description.dimensions
    if not same or (verify and model.fingerprint != description.model):
        raise InputError(
            f"{folder / MODEL}: not the model that {COLLECTION_FOLDER.description} names"
        )
    stored = description.vectors
    vectors = map_vectors(folder, stored, description.dimensions)
    if verify:
        require_unchanged_vectors(folder, stored)
    known = None if verify else description.length_error
    with problems_of(folder / stored.name):
        index = index_of_vectors(vectors) if known is None else index_of_rows(vectors, known)
    store = DocumentStore(folder, description.segments, description.columns)
    if verify:
        store.require_unchanged()
    words = None
    if description.words:
        words = open_postings(folder, description.words, description.dimensions, verify=verify)
    drawn = open_map(folder, description.map, verify=verify) if description.map else None
    return Collection(folder, description, model, index, store, words, drawn)


def index_of_vectors(vectors: Float32s) -> Index:
    """The index of vectors that are of unit length, or zero."""
    try:
        return Index(vectors)
    except InputError as error:
        raise InputError(
            f"vectors must be of unit length or zero: the file is damaged ({error})"
        ) from None
