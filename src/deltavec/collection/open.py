"""Open a collection: its files are compared with what the manifest says of them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from deltavec.collection.collection import Collection
from deltavec.collection.manifest import COLLECTION_FOLDER, MODEL, CollectionManifest, load_manifest
from deltavec.collection.map.storage import open_map
from deltavec.collection.segment import Documents, OpenSegment, read_deleted, read_scale
from deltavec.core.model import EmbeddingModel
from deltavec.errors import InputError
from deltavec.io.artifacts.manifest import problems_of
from deltavec.io.artifacts.model import load
from deltavec.io.remote import address_of, fetch
from deltavec.search.index import Index
from deltavec.search.lexical.index import InvertedIndex
from deltavec.search.lexical.writer import StoredPostings
from deltavec.search.matrix import ChunkedMatrix, length_error


def open_collection(
    path: str | os.PathLike[str], *, verify: bool = True, trust: bool = False
) -> Collection:
    """The collection in a folder.

    Parameters
    ----------
    path
        What `build_collection` wrote. From an address such as ``s3://bucket/news.idx`` it is copied
        to a temporary folder, as it is now, and only to be read.
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

    Examples
    --------
    >>> dv.open_collection("news.idx")
    Collection('news.idx', 12 documents)
    """
    folder = fetch(address) if (address := address_of(path)) else Path(path)
    return open_latest(folder, None, verify=verify, trust=trust)


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
            return open_state(folder, manifest, model, verify, before)
        except InputError:
            if load_manifest(folder) == manifest:
                raise
            # The files it named were replaced meanwhile: once more.


def open_state(
    folder: Path,
    manifest: CollectionManifest,
    model: EmbeddingModel,
    verify: bool,
    before: Collection | None = None,
) -> Collection:
    """The collection with this manifest and its model; segments that were open stay so."""
    dimensions = manifest.dimensions
    is_other = verify and model.fingerprint != manifest.model
    if is_other or model.dimensions != dimensions:
        name = COLLECTION_FOLDER.manifest
        raise InputError(f"{folder / MODEL}: not the model that {name} names")
    known = {one.stored: one for one in before.segments} if before else {}
    segments = tuple(
        known.get(replace(stored, deleted=None))
        or OpenSegment.of(folder, stored, manifest, verify=verify)
        for stored in manifest.segments
    )
    deleted = tuple(read_deleted(folder, stored, verify=verify) for stored in manifest.segments)
    error = manifest.length_error
    if verify:
        for segment in segments:
            with problems_of(folder / segment.stored.vectors.name):
                error = max(error, length_error(segment.vectors, "vectors"))
    pieces = ChunkedMatrix(
        tuple(segment.vectors for segment in segments),
        error,
        tuple(segment.quantizer for segment in segments),
        deleted,
    )
    index = InvertedIndex(tuple(one.postings for one in segments), deleted)
    require_terms(folder, index)
    words = StoredPostings(index, read_scale(folder, manifest.scale, dimensions, verify=verify))
    drawn = open_map(folder, manifest, deleted, verify=verify)
    documents = Documents([segment.documents for segment in segments], pieces)
    return Collection(folder, manifest, model, Index(pieces), documents, words, drawn, segments)


def require_terms(folder: Path, index: InvertedIndex) -> None:
    """Refuse terms that no word is a form of."""
    words = sum(len(segment.words) for segment in index.segments)
    last = max((int(one.terms[-1]) for one in index.segments if len(one.terms)), default=-1)
    if index.terms > words or last >= index.terms:
        raise InputError(f"{folder}: a term that no word is a form of: the postings are damaged")
