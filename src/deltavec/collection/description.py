"""What a collection is made of, as JSON that notices when a byte of it has changed.

``collection.json`` names the other files, with their sizes and checksums. A collection changes by
writing files under new names and then replacing this one, so it is whole at every moment.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from deltavec.collection.coverage import TextCounts
from deltavec.errors import InputError
from deltavec.io.model_description import LARGEST_COUNT, NO_CHECKSUM, SEAL, parsed, sealed
from deltavec.version import __version__

FORMAT = "deltavec collection"
VERSION = 1
LONGEST = 1 << 20  # bytes
VECTORS = re.compile(r"vectors-\d{6,9}\.safetensors")
DOCUMENTS = re.compile(r"documents-\d{6,9}\.parquet")
SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class StoredFile:
    """A file of the collection, which never changes once it is named here."""

    name: str
    documents: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class Description:
    """What ``collection.json`` says.

    Attributes
    ----------
    model : str
        The fingerprint of the model in ``model.dv``.
    own_model : bool
        Whether that model was derived for this collection.
    dimensions : int
        The length of a vector.
    id_column, text_column : str
        What the columns were called in the corpus; no id column: documents are numbered.
    columns : tuple of str
        The columns kept beside id and text.
    vectors : StoredFile
        The vectors of all documents.
    segments : tuple of StoredFile
        Ids, texts and columns, in files one after the other.
    zero_rows : int
        Documents without a vector.
    built, added : TextCounts
        The words of the text the collection was built from, and of what was added since.
    additions : int
        How often something was added.
    """

    model: str
    own_model: bool
    dimensions: int
    id_column: str
    text_column: str
    columns: tuple[str, ...]
    vectors: StoredFile
    segments: tuple[StoredFile, ...]
    zero_rows: int
    built: TextCounts
    added: TextCounts
    additions: int

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return self.vectors.documents

    @property
    def files(self) -> tuple[StoredFile, ...]:
        """The files it names."""
        return (self.vectors, *self.segments)


def as_bytes(description: Description) -> bytes:
    """The description as sealed JSON."""
    return sealed(
        {
            "format": FORMAT,
            "format_version": VERSION,
            "library_version": __version__,
            **asdict(description),
        }
    )


def described(data: bytes) -> Description:
    """The description in these bytes.

    Raises
    ------
    InputError
        If it is damaged, of another format, or written by a newer version.
    """
    if len(data) > LONGEST:
        raise InputError(f"expected at most {LONGEST:,} bytes: this is not a deltavec collection")
    seal = SEAL.match(data)
    if seal is None:
        raise InputError("the first line is not a checksum: damaged, or not a deltavec collection")
    blank = data[: seal.start(1)] + NO_CHECKSUM + data[seal.end(1) :]
    if hashlib.sha256(blank).hexdigest().encode() != seal[1]:
        raise InputError("the content does not have its checksum: the file is damaged")
    entries = parsed(data)
    require_known_version(entries)
    try:
        return checked(entries)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"an entry is missing or of the wrong type ({error!r:.80})") from None


def require_known_version(entries: Mapping[str, Any]) -> None:
    """Refuse what is no collection, and what only a newer deltavec can read."""
    if entries.get("format") != FORMAT:
        raise InputError(f"expected the format {FORMAT!r}, got {entries.get('format')!r:.60}")
    version = entries.get("format_version")
    if type(version) is not int or version < 1:
        raise InputError(f"expected a format version from 1 on, got {version!r:.60}")
    if version > VERSION:
        raise InputError(
            f"written by a newer deltavec, in version {version!r:.60} of the format; this one "
            f"reads up to version {VERSION}: upgrade deltavec"
        )


def checked(entries: Mapping[str, Any]) -> Description:
    """The description of these entries, each looked at."""
    vectors = stored_file(entries["vectors"], VECTORS)
    segments = tuple(stored_file(entry, DOCUMENTS) for entry in entries["segments"])
    if sum(segment.documents for segment in segments) != vectors.documents:
        raise InputError("the segments do not hold as many documents as there are vectors")
    if len({segment.name for segment in segments}) < len(segments):
        raise InputError("a segment is named twice")
    return Description(
        model=of_type(entries, "model", str),
        own_model=of_type(entries, "own_model", bool),
        dimensions=count(entries, "dimensions", 1),
        id_column=of_type(entries, "id_column", str),
        text_column=of_type(entries, "text_column", str),
        columns=tuple(str(name) for name in entries["columns"]),
        vectors=vectors,
        segments=segments,
        zero_rows=count(entries, "zero_rows"),
        built=counts(entries["built"]),
        added=counts(entries["added"]),
        additions=count(entries, "additions"),
    )


def stored_file(entry: Mapping[str, Any], names: re.Pattern[str]) -> StoredFile:
    """A file, if its name is one that deltavec gives: never a path."""
    name, digest = of_type(entry, "name", str), of_type(entry, "sha256", str)
    if not names.fullmatch(name):
        raise InputError(f"expected the name of a file of this collection, got {name!r:.60}")
    if not SHA256.fullmatch(digest):
        raise InputError(f"expected a SHA-256, got {digest!r:.60}")
    return StoredFile(name, count(entry, "documents", 1), count(entry, "bytes", 1), digest)


def counts(entry: Mapping[str, Any]) -> TextCounts:
    """Counts that can be those of a text."""
    found = TextCounts(**{name: count(entry, name) for name in TextCounts.__annotations__})
    if found.known_tokens > found.tokens or found.unknown_documents > found.documents:
        raise InputError("more words or documents are counted in part than in all")
    return found


def count(entries: Mapping[str, Any], name: str, smallest: int = 0) -> int:
    """A whole number that can be a count."""
    value: int = of_type(entries, name, int)
    if not smallest <= value <= LARGEST_COUNT:
        raise InputError(f"{name} must be from {smallest} to {LARGEST_COUNT}, got {value!r:.60}")
    return value


def of_type(entries: Mapping[str, Any], name: str, kind: type[Any]) -> Any:
    """An entry of this type."""
    value = entries[name]
    if type(value) is not kind:
        raise InputError(f"{name} must be of type {kind.__name__}, got {value!r:.60}")
    return value
