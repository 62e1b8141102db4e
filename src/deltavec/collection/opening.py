"""Collections opened, and made."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.collection import building
from deltavec.collection.collection import Collection
from deltavec.collection.description import Description
from deltavec.collection.documents import DocumentStore
from deltavec.collection.folder import DESCRIPTION, MODEL, read_description
from deltavec.collection.vectors import mapped_vectors, require_unchanged
from deltavec.collection.writing import OnProgress
from deltavec.core.model import EmbeddingModel
from deltavec.errors import InputError
from deltavec.io.folder_kinds import problems_of
from deltavec.io.storage import load
from deltavec.search import Index


def open_collection(path: str | os.PathLike[str], *, verify: bool = True) -> Collection:
    """The collection in a folder.

    Parameters
    ----------
    path
        What `build_collection` wrote.
    verify
        Whether to read everything once, to see that no bit of it has changed. Without it only
        sizes, descriptions and the lengths of the vectors are looked at, and each text when it is
        read.

    Raises
    ------
    InputError
        If the folder is missing, damaged, no collection, or written by a newer version.
    """
    folder = Path(path)
    while True:
        description = read_description(folder)
        try:
            return opened(folder, description, verify)
        except InputError:
            if read_description(folder) == description:
                raise
            # Somebody added to it meanwhile: once more.


def opened(folder: Path, description: Description, verify: bool) -> Collection:
    """The collection of a description."""
    model = load(folder / MODEL, verify=verify)
    if model.dimensions != description.dimensions:
        raise InputError(f"{folder / MODEL}: not the model that {DESCRIPTION} names")
    if verify and model.fingerprint != description.model:
        raise InputError(f"{folder / MODEL}: not the model that {DESCRIPTION} names")
    stored = description.vectors
    with problems_of(folder / stored.name):
        vectors = mapped_vectors(folder, stored, description.dimensions)
        if verify:
            require_unchanged(vectors, stored)
        index = indexed(vectors)
    store = DocumentStore(folder, description.segments, description.columns)
    if verify:
        store.require_unchanged()
    return Collection(folder, description, model, index, store)


def indexed(vectors: npt.NDArray[np.float32]) -> Index:
    """The index of vectors that are of unit length, or zero."""
    try:
        return Index(vectors)
    except InputError as error:
        raise InputError(
            f"vectors must be of unit length or zero: the file is damaged ({error})"
        ) from None


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

    Raises
    ------
    InputError
        Before anything is written, if a column is not there, the corpus can be read only once and
        must be read twice, or something else stands in the folder's place; later, if an id comes
        twice.
    """
    building.build(
        model,
        corpus,
        path,
        id_column=id_column,
        keep=keep,
        threads=threads,
        on_progress=on_progress,
        on_stage=on_stage,
        as_collection=as_collection,
    )
    return open_collection(path, verify=False)
