"""The folder of a collection: what may be in it, who may write, and how a new one takes its place.

::

    REVIEWS.idx/
      collection.json               what is here; replaced last, in one step
      model.dv/                     the model that the vectors come from
      vectors-000001.safetensors    one row for each document
      documents-000001.arrow        ids, texts and columns; further ones for what was added
                                    (.parquet before version 4)
      words-000001.safetensors      which documents hold each word
      map-000001.safetensors        where each document stands in two dimensions
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deltavec.collection.manifest import (
    DOCUMENTS,
    MAP,
    VECTORS,
    VERSION,
    WORDS,
    CollectionManifest,
    as_entries,
    read_manifest,
)
from deltavec.errors import DeltavecError, InputError
from deltavec.io.artifacts.atomic import UNFINISHED
from deltavec.io.artifacts.manifest import FolderKind, problems_of
from deltavec.io.artifacts.model import MODEL_FOLDER, MODEL_OF_COLLECTION

MODEL = MODEL_OF_COLLECTION
# Our own files that can be written again, or never were complete.
OWN_FILES = (VECTORS, DOCUMENTS, WORDS, MAP)
WRITTEN_AGAIN = re.compile("|".join([*(names.pattern for names in OWN_FILES), UNFINISHED]))
NUMBER = re.compile(r"(?:vectors|documents|words|map)-(\d+)\.")
COLLECTION_FOLDER = FolderKind(
    "collection",
    VERSION,
    "collection.json",
    re.compile(rf"collection\.json|{WRITTEN_AGAIN.pattern}"),
    folders={MODEL: MODEL_FOLDER},
)


def read_description(folder: Path) -> CollectionManifest:
    """What the collection in a folder says it is.

    Raises
    ------
    InputError
        If there is none, or it is damaged.
    """
    if (folder / MODEL_FOLDER.description).is_file():
        raise InputError(f"{folder}: it is a model: build a collection with it")
    COLLECTION_FOLDER.identity(folder)
    stated = COLLECTION_FOLDER.described(folder)
    with problems_of(folder / COLLECTION_FOLDER.description):
        return read_manifest(stated)


def write_description(folder: Path, description: CollectionManifest) -> None:
    """Put a description in its place, whole; the moment at which a collection changes."""
    COLLECTION_FOLDER.describe(folder, as_entries(description))


def vectors_name(number: int) -> str:
    """What the file of vectors with this number is called."""
    return f"vectors-{number:06}.safetensors"


def documents_name(number: int) -> str:
    """What the file of documents with this number is called."""
    return f"documents-{number:06}.arrow"


def words_name(number: int) -> str:
    """What the file of words with this number is called."""
    return f"words-{number:06}.safetensors"


def map_name(number: int) -> str:
    """What the file of the map with this number is called."""
    return f"map-{number:06}.safetensors"


def next_number(folder: Path) -> int:
    """A number that no file in the folder has yet."""
    taken = (NUMBER.match(entry.name) for entry in folder.iterdir())
    return 1 + max((int(match[1]) for match in taken if match), default=0)


def remove_unnamed(folder: Path) -> None:
    """Remove what earlier writes left: our own files that the description does not name."""
    named = {file.name for file in read_description(folder).files}
    for entry in folder.iterdir():
        if entry.name not in named and WRITTEN_AGAIN.fullmatch(entry.name) and entry.is_file():
            with suppress(OSError):  # in use, on Windows: next time
                entry.unlink()


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """While it lasts nobody else writes to the collection; a kill ends it too."""
    if os.name == "nt" or not folder.is_dir():  # nothing there to be written to, or no such lock
        yield
        return
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(
                f"{folder}: somebody else is writing to the collection; wait until that is done"
            ) from None
        yield
    finally:
        os.close(handle)


@contextmanager
def disk_problems(folder: Path) -> Iterator[None]:
    """While it lasts, what the disk refuses is one clear error."""
    try:
        yield
    except OSError as error:
        raise DeltavecError(
            f"{error.filename or folder}: {error.strerror or error}; what stood at {folder} before "
            "is as it was"
        ) from error


@contextmanager
def changing(folder: Path, model: str) -> Iterator[CollectionManifest]:
    """While it lasts only we write to the collection that is described.

    Parameters
    ----------
    folder
        Where it is.
    model
        The fingerprint of the model that it must have.
    """
    with writing(folder), disk_problems(folder):
        before = read_description(folder)
        if before.model != model:
            raise InputError(f"{folder} was built anew since it was opened: open it again")
        remove_unnamed(folder)
        try:
            yield before
        finally:
            remove_unnamed(folder)
