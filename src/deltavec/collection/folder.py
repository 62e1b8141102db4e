"""The folder of a collection: what may be in it, who may write, and how a new one takes its place.

::

    REVIEWS.idx/
      collection.json               what is here; replaced last, in one step
      model.dv/                     the model that the vectors come from
      vectors-000001.safetensors    one row for each document
      documents-000001.parquet      ids, texts and columns; further ones for what was added
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from deltavec.collection.description import (
    DOCUMENTS,
    LONGEST,
    VECTORS,
    Description,
    as_bytes,
    described,
)
from deltavec.errors import DeltavecError, InputError
from deltavec.io import storage
from deltavec.io.files import flush_to_disk, replacing
from deltavec.io.folder_kinds import problems_of
from deltavec.io.folders import put_in_place, remove_folder

DESCRIPTION = "collection.json"
MODEL = "model.dv"
UNFINISHED = re.compile(r"\.deltavec-[0-9a-f]{32}\.part")
NUMBER = re.compile(r"(?:vectors|documents)-(\d+)\.")


def is_collection(folder: Path) -> bool:
    """Whether a folder looks like a collection, whole or not."""
    return (folder / DESCRIPTION).is_file()


def read_description(folder: Path) -> Description:
    """What the collection in a folder says it is.

    Raises
    ------
    InputError
        If there is none, or it is damaged.
    """
    with problems_of(folder):
        if not folder.is_dir():
            what = "a file" if folder.exists() else "nothing there"
            raise InputError(f"expected the folder of a deltavec collection, found {what}")
        if not is_collection(folder):
            advice = "; it is a model: build a collection with it" if is_model(folder) else ""
            raise InputError(f"the folder is no deltavec collection: no {DESCRIPTION}{advice}")
    with problems_of(folder / DESCRIPTION), (folder / DESCRIPTION).open("rb") as file:
        return described(file.read(LONGEST + 1))


def is_model(folder: Path) -> bool:
    """Whether a folder looks like a model."""
    return (folder / storage.DESCRIPTION).is_file()


def write_description(folder: Path, description: Description) -> None:
    """Put a description in its place, whole; the moment at which a collection changes."""
    with replacing(folder / DESCRIPTION) as temporary:
        temporary.write_bytes(as_bytes(description))


def next_number(folder: Path) -> int:
    """A number that no file in the folder has yet."""
    taken = (NUMBER.match(entry.name) for entry in folder.iterdir())
    return 1 + max((int(match[1]) for match in taken if match), default=0)


def remove_unnamed(folder: Path, description: Description) -> None:
    """Remove what earlier writes left: our own files that the description does not name."""
    named = {file.name for file in description.files}
    for entry in folder.iterdir():
        if entry.name not in named and is_ours(entry.name) and entry.is_file():
            with suppress(OSError):  # in use, on Windows: next time
                entry.unlink()


def is_ours(name: str) -> bool:
    """Whether a file of this name was written by deltavec, and can be written again."""
    return any(pattern.fullmatch(name) for pattern in (VECTORS, DOCUMENTS, UNFINISHED))


def require_replaceable(folder: Path) -> None:
    """Refuse to build where something stands that is not a collection."""
    with problems_of(folder):
        if not os.path.lexists(folder):
            return
        if not folder.is_dir():
            raise InputError("expected a folder, or nothing, found a file: choose another name")
        names = sorted(entry.name for entry in folder.iterdir())
        for name in names:
            if name not in (DESCRIPTION, MODEL) and not is_ours(name):
                raise InputError(
                    f"the folder holds {name!r}, which is not part of a deltavec collection, and "
                    "is left alone: choose another name"
                )
        if names and not is_collection(folder):
            raise InputError(
                "the folder is not a deltavec collection, and is left alone: choose another name"
            )


@contextmanager
def replacing_collection(target: Path) -> Iterator[Path]:
    """A new folder beside the target, which takes its place if all goes well."""
    target = target.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = target.with_name(f".deltavec-{uuid.uuid4().hex}.part")
    fresh.mkdir()
    try:
        yield fresh
        flush_to_disk(fresh)
        put_in_place(fresh, target)
        flush_to_disk(target.parent)
    finally:
        # Failed, it is the new folder that goes; else what stood at the target.
        remove_collection(fresh)


def remove_collection(folder: Path) -> None:
    """Remove the folder of a collection, if it is there; one that holds anything else stays."""
    if not folder.is_dir():
        return
    remove_folder(folder / MODEL, storage.FILES)
    files = [entry.name for entry in folder.iterdir() if is_ours(entry.name)]
    remove_folder(folder, [*files, DESCRIPTION])


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
