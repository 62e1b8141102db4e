"""The folder of a collection and its manifest.

::

    REVIEWS.idx/
      collection.json               the manifest; replaced last, in one step
      model.dv/                     the model that the vectors come from
      documents-000001.arrow        of each segment: ids, texts and columns
      vectors-000001.safetensors    a vector for each document
      rows-000001.safetensors       int8 codes of the vectors, and hashes of the ids
      words-000001.safetensors      the postings
      map-000001.safetensors        coordinates in two dimensions
      deleted-000002.safetensors    the deleted documents of a segment
      scale-000002.safetensors      sums over the vectors of all documents

The manifest names the other files, with their sizes and checksums. A collection changes by writing
files under new names and then replacing the manifest, so it is complete at every moment. The files
of a segment never change; a change writes a segment of its own (docs/decisions/0031).

So a backup has hard links to the files where the file system allows it, and takes no room of its
own until the collection changes.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, get_origin, get_type_hints

from deltavec.core.arguments import require_one_of
from deltavec.core.statistics import TextCounts
from deltavec.errors import DeltavecError, InputError, LockWarning, warn
from deltavec.io.artifacts.atomic import UNFINISHED, flush_to_disk
from deltavec.io.artifacts.manifest import (
    LARGEST_COUNT,
    Artifact,
    problems_of,
    require_ranges,
    require_size,
    require_types,
    require_unchanged,
)
from deltavec.io.artifacts.model import MODEL_FOLDER, MODEL_OF_COLLECTION
from deltavec.io.remote import KEPT, address_of
from deltavec.search.kernels import MOST_DIMENSIONS
from deltavec.search.lexical.writer import Sizes
from deltavec.search.matrix import LARGEST_ERROR

VERSION = 1
DTYPES = ("float32", "float16")  # of vectors
MODEL = MODEL_OF_COLLECTION
KINDS = ("vectors", "rows", "words", "map", "deleted", "scale")
SUFFIXES = dict.fromkeys(KINDS, "safetensors") | {"documents": "arrow"}
NAMES = {kind: rf"{kind}-\d{{6,9}}\.{suffix}" for kind, suffix in SUFFIXES.items()}
NUMBER = re.compile(rf"(?:{'|'.join(SUFFIXES)})-(\d+)\.")
ABANDONED = 86_400  # seconds after which a file that nobody names is a leftover
LARGEST_NAMES = 10_000_000  # bytes of the names of a map
SHA256 = re.compile(r"[0-9a-f]{64}")
# Our own files that can be written again, or never were complete.
OWN_FILE = re.compile("|".join([*NAMES.values(), UNFINISHED]))
COLLECTION_FOLDER = Artifact(
    "collection",
    VERSION,
    "collection.json",
    re.compile(rf"collection\.json|{OWN_FILE.pattern}"),
    folders={MODEL: MODEL_FOLDER},
)


@dataclass(frozen=True)
class StoredFile:
    """A file of the collection. It never changes once the manifest names it."""

    name: str
    documents: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class RowsFile(StoredFile):
    """The file of codes: whether there are any, and how many numbers a head has."""

    coded: int
    heads: int


@dataclass(frozen=True)
class WordsFile(Sizes, StoredFile):
    """The file of the postings, and the sizes that its layout follows from."""


@dataclass(frozen=True)
class MapFile(StoredFile):
    """The file of the map: how many documents it was drawn of, and how long its names are."""

    drawn: int
    name_bytes: int


@dataclass(frozen=True)
class StoredSegment:
    """The files of a segment.

    Attributes
    ----------
    documents : StoredFile
        Ids, texts and columns.
    vectors : StoredFile
        The vectors.
    rows : RowsFile
        Codes of the vectors and hashes of the ids.
    words : WordsFile
        The postings.
    map : MapFile or None
        Coordinates; None if no map was drawn.
    deleted : StoredFile or None
        The deleted documents; None if there are none.
    """

    documents: StoredFile
    vectors: StoredFile
    rows: RowsFile
    words: WordsFile
    map: MapFile | None = None
    deleted: StoredFile | None = None

    @property
    def live(self) -> int:
        """How many documents there are, without deleted ones."""
        return self.documents.documents - (self.deleted.documents if self.deleted else 0)

    @property
    def files(self) -> tuple[StoredFile, ...]:
        """The files it names."""
        others = (file for file in (self.map, self.deleted) if file)
        return (self.documents, self.vectors, self.rows, self.words, *others)


@dataclass(frozen=True)
class CollectionManifest:
    """What ``collection.json`` says.

    Attributes
    ----------
    model : str
        The fingerprint of the model in ``model.dv``.
    own_model : bool
        Whether that model was derived for this collection.
    dimensions : int
        The length of a vector.
    dtype : str
        The type of its numbers: ``float32`` or ``float16``.
    id_column, text_column, title_column : str
        The names of the columns in the corpus. Without an id column documents are numbered;
        titles go before the texts.
    columns : tuple of str
        The columns kept beside id and text.
    segments : tuple of StoredSegment
        The segments, in the order of their documents.
    scale : StoredFile
        Sums over the vectors of all documents.
    zero_rows : int
        How many documents have a zero vector.
    length_error : float
        How far the length of a vector is from 1 at most.
    built, added : TextCounts
        The token counts of the documents that the collection was built from, and of those that
        were added since. Removed documents are not counted.
    additions : int
        How often documents were added.
    removed : int
        How many documents were removed or replaced.
    """

    model: str
    own_model: bool
    dimensions: int
    dtype: str
    id_column: str
    text_column: str
    title_column: str
    columns: tuple[str, ...]
    segments: tuple[StoredSegment, ...]
    scale: StoredFile
    zero_rows: int
    length_error: float
    built: TextCounts
    added: TextCounts
    additions: int
    removed: int = 0

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return sum(segment.live for segment in self.segments)

    @property
    def map(self) -> MapFile | None:
        """The map, whose names are in its first file; None if none was drawn."""
        return self.segments[0].map

    @property
    def files(self) -> tuple[StoredFile, ...]:
        """The files it names."""
        return (*(file for segment in self.segments for file in segment.files), self.scale)

    @property
    def state(self) -> str:
        """A checksum of the documents and their map."""
        return sha256("".join(file.sha256 for file in self.files).encode()).hexdigest()[:32]


COUNT = (0, LARGEST_COUNT)
RANGES = {
    "dimensions": (1, MOST_DIMENSIONS),
    "length_error": (0, LARGEST_ERROR),
    **dict.fromkeys(("zero_rows", "additions", "removed"), COUNT),
}
FILE_RANGES = {
    **dict.fromkeys(get_type_hints(WordsFile).keys() - {"name", "sha256"}, COUNT),
    **dict.fromkeys(("documents", "bytes"), (1, LARGEST_COUNT)),
    "drawn": COUNT,
    "name_bytes": (2, LARGEST_NAMES),
    "coded": (0, 1),
    "heads": (0, MOST_DIMENSIONS),
}
JSON_TYPES: dict[Any, type[Any]] = {tuple: list}  # everything else is an object
FILE_KINDS: dict[str, type[Any]] = {"rows": RowsFile, "words": WordsFile, "map": MapFile}
OPTIONAL = ("map", "deleted")
SEGMENT_FIELDS = ("documents", "vectors", "rows", "words", *OPTIONAL)


def read_manifest(entries: Mapping[str, Any]) -> CollectionManifest:
    """The manifest with these entries, all of them checked.

    Raises
    ------
    InputError
        If an entry is missing, of the wrong type or out of range.
    """
    entries = {"dtype": DTYPES[0], **entries}  # version 0.2.0 had no other
    require_entry(CollectionManifest, entries, RANGES)
    if not all(type(name) is str for name in entries["columns"]):
        raise InputError("columns must be a list of strings")
    require_one_of("dtype", entries["dtype"], DTYPES)
    parts = {
        "columns": tuple(entries["columns"]),
        "segments": tuple(stored_segment(entry) for entry in entries["segments"]),
        "scale": stored_file("scale", entries["scale"]),
        "built": text_counts(entries["built"]),
        "added": text_counts(entries["added"]),
    }
    if not parts["segments"]:
        raise InputError("a collection has at least one segment")
    found = CollectionManifest(**{**entries, **parts})
    if len({file.name for file in found.files}) < len(found.files):
        raise InputError("a file is named twice")
    if len({segment.map is None for segment in found.segments}) > 1:
        raise InputError("some segments have a map, and others have none")
    if found.built.documents + found.added.documents != found.documents:
        raise InputError("built and added: not as many documents as there are vectors")
    return found


def stored_segment(entry: Any) -> StoredSegment:
    """A segment whose files are all of the same documents."""
    require_types(entry if isinstance(entry, dict) else {}, dict.fromkeys(SEGMENT_FIELDS, dict))
    files: dict[str, Any] = {
        name: stored_file(name, entry[name]) if entry[name] or name not in OPTIONAL else None
        for name in SEGMENT_FIELDS
    }
    found = StoredSegment(**files)
    for file in found.files:
        if file.documents != found.documents.documents and file is not found.deleted:
            raise InputError(f"{file.name}: not as many documents as there are vectors")
    if found.live < 0:
        raise InputError("more documents are deleted than there are")
    return found


def require_entry(kind: type[Any], entry: Any, ranges: Mapping[str, tuple[float, float]]) -> None:
    """Raise unless an entry has the fields of this type, with values of their types and ranges."""
    types = {
        name: hint if hint in (str, bool, int, float) else JSON_TYPES.get(get_origin(hint), dict)
        for name, hint in get_type_hints(kind).items()
    }
    require_types(entry if isinstance(entry, dict) else {}, types)
    require_ranges(entry, {name: bounds for name, bounds in ranges.items() if name in types})


def stored_file(name: str, entry: Any) -> Any:
    """A file, if its name is one that deltavec gives to files of this kind: never a path."""
    kind = FILE_KINDS.get(name, StoredFile)
    require_entry(kind, entry, FILE_RANGES)
    if not re.fullmatch(NAMES[name], entry["name"]):
        raise InputError(
            f"expected the name of a file of this collection, got {entry['name']!r:.60}"
        )
    if not SHA256.fullmatch(entry["sha256"]):
        raise InputError(f"expected a SHA-256, got {entry['sha256']!r:.60}")
    return kind(**entry)


def text_counts(entry: Mapping[str, Any]) -> TextCounts:
    """Token counts, if they are possible."""
    require_entry(TextCounts, entry, dict.fromkeys(entry, COUNT))
    found = TextCounts(**entry)
    if found.known_tokens > found.tokens or found.unknown_documents > found.documents:
        raise InputError("more words or documents are counted in part than in all")
    return found


def as_entries(manifest: CollectionManifest) -> dict[str, Any]:
    """The entries of a manifest; a missing file is an empty entry."""
    entries = asdict(manifest)
    for segment in entries["segments"]:
        segment.update({name: segment[name] or {} for name in OPTIONAL})
    return entries


def load_manifest(folder: Path) -> CollectionManifest:
    """The manifest of the collection in a folder.

    Raises
    ------
    InputError
        If there is none, or it is damaged.
    """
    if (folder / MODEL_FOLDER.manifest).is_file():
        raise InputError(
            f"{folder} is a model. Build a collection first: "
            f"deltavec index build {folder} CORPUS -o NAME.idx"
        )
    COLLECTION_FOLDER.identity(folder)
    entries = COLLECTION_FOLDER.read_manifest(folder)
    with problems_of(folder / COLLECTION_FOLDER.manifest):
        return read_manifest(entries)


def save_manifest(
    folder: Path, manifest: CollectionManifest, before: CollectionManifest | None = None
) -> None:
    """Replace the manifest: the moment at which a collection changes.

    Where locks do nothing, somebody else may have changed the collection meanwhile. So the manifest
    must still be the one ``before``, and all files of the new one must be there.
    """
    if before is not None:
        files = [folder / file.name for file in manifest.files]
        if load_manifest(folder) != before or not all(file.is_file() for file in files):
            raise InputError(
                f"{folder}: somebody else changed the collection meanwhile; it is as they left it: "
                "do this again"
            )
    COLLECTION_FOLDER.write_manifest(folder, as_entries(manifest))


@contextmanager
def open_file(
    folder: Path, stored: StoredFile, *, verify: bool = False, begin: int = 0
) -> Iterator[BinaryIO]:
    """A file that the manifest names, open for reading, if it has the right size.

    With `verify`, its checksum must be right too, which is taken from `begin` on.
    """
    with COLLECTION_FOLDER.opened(folder / stored.name) as file:
        require_size(file, stored.bytes)
        if verify:
            require_unchanged(file, stored.sha256, begin)
            file.seek(0)
        yield file


def file_path(folder: Path, kind: str, number: int) -> Path:
    """Where the file of a kind with this number is."""
    return folder / f"{kind}-{number:06}.{SUFFIXES[kind]}"


def next_number(folder: Path) -> int:
    """A number that no file in the folder has yet."""
    taken = (NUMBER.match(entry.name) for entry in folder.iterdir())
    return 1 + max((int(match[1]) for match in taken if match), default=0)


def remove_unnamed(
    folder: Path, before: CollectionManifest | None = None, *, exclusive: bool
) -> None:
    """Remove our own files that the manifest does not name.

    If others may be writing, only those that the manifest ``before`` named, and those that were not
    touched for a day, which a killed process left.
    """
    named = {file.name for file in load_manifest(folder).files}
    replaced = {file.name for file in before.files} if before else set()
    for entry in folder.iterdir():
        if entry.name not in named and OWN_FILE.fullmatch(entry.name) and entry.is_file():
            with suppress(OSError):  # in use, on Windows: next time
                is_old = time.time() - entry.stat().st_mtime > ABANDONED
                if exclusive or is_old or entry.name in replaced:
                    entry.unlink()


class LockedError(InputError):
    """Somebody else is writing to the collection."""


@contextmanager
def writing(folder: Path) -> Iterator[bool]:
    """Hold the lock for writing to a collection; give whether it keeps others out.

    The system releases the lock of a process that is killed. Errors of the disk become a
    `DeltavecError`.
    """
    if address_of(folder) or any(folder.is_relative_to(copy.name) for copy in KEPT):
        raise InputError(
            f"{folder}: a collection at an address is only read: write one on this machine, and "
            "copy its folder"
        )
    handles: list[int] = []
    try:
        exclusive = True
        if os.name != "nt" and folder.is_dir():  # else there is nothing to lock, or no such lock
            if not lock(folder, handles):
                raise LockedError(
                    f"{folder}: somebody else is writing to the collection; wait until that is done"
                )
            exclusive = not lock(folder, handles)  # a second lock must be refused
        yield exclusive
    except OSError as error:
        raise DeltavecError(
            f"{error.filename or folder}: {error.strerror or error}; what stood at {folder} before "
            "is as it was"
        ) from error
    finally:
        for handle in handles:
            os.close(handle)


def lock(folder: Path, handles: list[int]) -> bool:
    """Whether a folder can be locked; its handle is appended, to be closed by the caller."""
    import fcntl

    handles.append(os.open(folder, os.O_RDONLY))
    try:
        fcntl.flock(handles[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        message = f"{folder} cannot be locked ({error.strerror}): make sure that nobody else writes"
        warn(message, LockWarning)
    return True


ATTEMPTS = 20


def backup(source: str | os.PathLike[str], output: str | os.PathLike[str]) -> bool:
    """Copy a collection as it is at one moment; whether by hard links.

    Parameters
    ----------
    source
        The folder of a collection; others may write to it meanwhile.
    output
        The folder to write; a collection that stands there is replaced.
    """
    folder, target = Path(source), Path(output)
    COLLECTION_FOLDER.require_replaceable(target)
    if folder.resolve() == target.resolve():
        raise InputError(f"{target}: expected another folder than that of the collection")
    for _ in range(ATTEMPTS):
        manifest, before = load_manifest(folder), folder.stat().st_ino
        # A file that is missing was replaced meanwhile; so was the folder, if it is another one.
        with suppress(FileNotFoundError), COLLECTION_FOLDER.replacing(target) as fresh:
            names = [file.name for file in manifest.files]
            names += [f"{MODEL}/{path.name}" for path in (folder / MODEL).iterdir()]
            (fresh / MODEL).mkdir()
            linked = min([link(folder / name, fresh / name) for name in names])
            save_manifest(fresh, manifest)
            if folder.stat().st_ino != before:
                raise FileNotFoundError
            return linked
    raise InputError(f"{folder}: it changes faster than it can be copied: try again")


def link(source: Path, target: Path) -> bool:
    """Give a file a second name, or copy it where that is not possible; whether it is a name."""
    try:
        target.hardlink_to(source)
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without links
        shutil.copyfile(source, target)
        flush_to_disk(target)
        return False
    return True
