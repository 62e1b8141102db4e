"""Open a collection: its files are compared with what the manifest says of them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from deltavec.collection.collection import Collection
from deltavec.collection.manifest import COLLECTION_FOLDER, MODEL, CollectionManifest, load_manifest
from deltavec.collection.map.storage import open_map
from deltavec.collection.segment import Documents, map_vectors, open_postings
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
        Whether to compare all files with their checksums, which reads them once. Without it only
        sizes and the manifest are checked, and each text when it is read.
    trust
        Whether to import the tokenizer that its model names, if that is third-party code: see
        `deltavec.load`. Without it such a collection takes queries as lists of words, and raises
        whenever it would have to tokenize a text.

    Raises
    ------
    InputError
        If the folder is missing, damaged, no collection, or written by a newer version.
    """
    return open_latest(Path(path), None, verify=verify, trust=trust)


def refresh(collection: Collection) -> Collection:
    """The collection as it is on disk now; the very same object if nothing has changed.

    What has not changed is not opened again. Only sizes and the manifest are checked.
    """
    return open_latest(collection.path, collection.model, collection)


def open_latest(
    folder: Path,
    known: EmbeddingModel | None,
    before: Collection | None = None,
    *,
    verify: bool = False,
    trust: bool = False,
) -> Collection:
    """The collection in a folder, which may be replaced while it is opened.

    Parameters
    ----------
    folder
        Where it is.
    known
        A model whose tokenizer is used if the collection's model names the same one.
    before
        The collection as it was opened earlier.
    verify, trust
        See `open_collection`.
    """
    while True:
        manifest = load_manifest(folder)
        if before is not None and manifest == before.description:
            return before
        try:
            if before is not None and manifest.model == before.description.model:
                model = before.model
            else:
                model = load(folder / MODEL, verify=verify, trust=trust)
                if known is not None and model.tokenizer == known.tokenizer:
                    model = replace(model, tokenizer=known.tokenizer)
            return open_state(folder, manifest, model, verify)
        except InputError:
            if load_manifest(folder) == manifest:
                raise
            # The files it named were replaced meanwhile: once more.


def open_state(
    folder: Path, manifest: CollectionManifest, model: EmbeddingModel, verify: bool
) -> Collection:
    """The collection with this manifest and its model."""
    dimensions = manifest.dimensions
    is_other = verify and model.fingerprint != manifest.model
    if is_other or model.dimensions != dimensions:
        name = COLLECTION_FOLDER.manifest
        raise InputError(f"{folder / MODEL}: not the model that {name} names")
    vectors = map_vectors(folder, manifest.vectors, dimensions, verify=verify)
    with problems_of(folder / manifest.vectors.name):
        index = Index(vectors) if verify else index_of_rows(vectors, manifest.length_error)
    documents = Documents(folder, manifest.segments, manifest.columns, verify=verify)
    words = drawn = None
    if manifest.words:
        words = open_postings(folder, manifest.words, dimensions, verify=verify)
    if manifest.map:
        drawn = open_map(folder, manifest.map, verify=verify)
    return Collection(folder, manifest, model, index, documents, words, drawn)
