"""What a collection is made of: the entries of its description.

``collection.json`` names the other files, with their sizes and checksums. A collection changes by
writing files under new names and then replacing this one, so it is whole at every moment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, get_type_hints

from deltavec.core.statistics import TextCounts
from deltavec.errors import InputError
from deltavec.io.artifacts.manifest import LARGEST_COUNT, Unsealed, require_ranges, require_types
from deltavec.search.kernels import MOST_DIMENSIONS
from deltavec.search.matrix import LARGEST_ERROR

VECTORS = re.compile(r"vectors-\d{6,9}\.safetensors")
DOCUMENTS = re.compile(r"documents-\d{6,9}\.arrow")
WORDS = re.compile(r"words-\d{6,9}\.safetensors")
MAP = re.compile(r"map-\d{6,9}\.safetensors")
SHA256 = re.compile(r"[0-9a-f]{64}")
LARGEST_NAMES = 10_000_000  # bytes of the names of a map

VERSION = 1
ENTRIES: dict[str, type[Any]] = {
    "model": str,
    "own_model": bool,
    "dimensions": int,
    "id_column": str,
    "text_column": str,
    "columns": list,
    "vectors": dict,
    "segments": list,
    "zero_rows": int,
    "built": dict,
    "added": dict,
    "additions": int,
    "length_error": float,
    "words": dict,
    "removed": int,
    "map": dict,
}
RANGES = {
    "dimensions": (1, MOST_DIMENSIONS),
    "zero_rows": (0, LARGEST_COUNT),
    "length_error": (0, LARGEST_ERROR),
    "additions": (0, LARGEST_COUNT),
    "removed": (0, LARGEST_COUNT),
}


@dataclass(frozen=True)
class StoredFile:
    """A file of the collection, which never changes once it is named here."""

    name: str
    documents: int
    bytes: int
    sha256: str


@dataclass(frozen=True)
class WordsFile(StoredFile):
    """The file of the words, and the numbers that its layout follows from."""

    words: int
    word_bytes: int
    terms: int
    postings: int
    rules: int
    rule_bytes: int


@dataclass(frozen=True)
class MapFile(StoredFile):
    """The file of the map: how many documents it was drawn of, and how long its names are."""

    drawn: int
    name_bytes: int


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
    length_error : float or None
        How far the length of a vector is from 1 at most; None before version 2, which stores it.
    built, added : TextCounts
        The words of the documents that the collection was built from, and of those that were added
        since; of those that are there. The former come first.
    additions : int
        How often something was added.
    words : WordsFile or None
        The words of all documents; None if they were left out, and before version 3.
    removed : int
        How many documents were removed or replaced; none before version 5.
    map : MapFile or None
        Where all documents stand in two dimensions; None if no map was drawn, and before version 6.
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
    length_error: float
    built: TextCounts
    added: TextCounts
    additions: int
    words: WordsFile | None
    removed: int = 0
    map: MapFile | None = None

    @property
    def documents(self) -> int:
        """How many documents there are."""
        return self.vectors.documents

    @property
    def files(self) -> tuple[StoredFile, ...]:
        """The files it names."""
        others = (self.words, self.map)
        return (self.vectors, *self.segments, *(file for file in others if file))


def read_manifest(stated: Unsealed) -> CollectionManifest:
    """The description that was unsealed, every entry looked at.

    Raises
    ------
    InputError
        If an entry is missing, of the wrong type or out of range.
    """
    entries = stated.entries
    require_types(entries, ENTRIES)
    require_ranges(entries, RANGES)
    if not all(type(name) is str for name in entries["columns"]):
        raise InputError("columns must be a list of strings")
    vectors = stored_file(entries["vectors"], VECTORS)
    segments = tuple(stored_file(entry, DOCUMENTS) for entry in entries["segments"])
    if sum(segment.documents for segment in segments) != vectors.documents:
        raise InputError("the segments do not hold as many documents as there are vectors")
    if len({segment.name for segment in segments}) < len(segments):
        raise InputError("a segment is named twice")
    parts = {
        "columns": tuple(entries["columns"]),
        "vectors": vectors,
        "segments": segments,
        "words": words_file(entries["words"], vectors.documents),
        "map": map_file(entries["map"], vectors.documents),
        "built": text_counts(entries["built"]),
        "added": text_counts(entries["added"]),
    }
    found = CollectionManifest(**{**entries, **parts})
    if found.built.documents + found.added.documents != found.documents:
        raise InputError("the documents built and added are not as many as there are vectors")
    return found


def as_entries(description: CollectionManifest) -> dict[str, Any]:
    """The description as it is sealed; no words, or no map, are an empty entry."""
    entries = asdict(description)
    return {**entries, "words": entries["words"] or {}, "map": entries["map"] or {}}


def stored_file(entry: Any, names: re.Pattern[str]) -> StoredFile:
    """A file, if its name is one that deltavec gives: never a path."""
    require_types(entry if isinstance(entry, dict) else {}, get_type_hints(StoredFile))
    found = StoredFile(**entry)
    require_sound(found, names)
    return found


def words_file(entry: Mapping[str, Any], documents: int) -> WordsFile | None:
    """The file of the words of so many documents, if there is one."""
    if not entry:
        return None
    require_types(entry, get_type_hints(WordsFile))
    found = WordsFile(**entry)
    require_sound(found, WORDS)
    sizes = set(entry) - set(get_type_hints(StoredFile))
    require_ranges(entry, dict.fromkeys(sizes, (0, LARGEST_COUNT)))
    if found.documents != documents:
        raise InputError("the words are not those of as many documents as there are vectors")
    return found


def map_file(entry: Mapping[str, Any], documents: int) -> MapFile | None:
    """The file of the map of so many documents, if there is one."""
    if not entry:
        return None
    require_types(entry, get_type_hints(MapFile))
    found = MapFile(**entry)
    require_sound(found, MAP)
    require_ranges(entry, {"drawn": (0, LARGEST_COUNT), "name_bytes": (2, LARGEST_NAMES)})
    if found.documents != documents:
        raise InputError("the map is not that of as many documents as there are vectors")
    return found


def require_sound(found: StoredFile, names: re.Pattern[str]) -> None:
    """Refuse a file that is called otherwise, or whose numbers cannot be."""
    require_ranges(asdict(found), dict.fromkeys(("documents", "bytes"), (1, LARGEST_COUNT)))
    if not names.fullmatch(found.name):
        raise InputError(f"expected the name of a file of this collection, got {found.name!r:.60}")
    if not SHA256.fullmatch(found.sha256):
        raise InputError(f"expected a SHA-256, got {found.sha256!r:.60}")


def text_counts(entry: Mapping[str, Any]) -> TextCounts:
    """Counts that can be those of a text."""
    kinds = get_type_hints(TextCounts)
    require_types(entry, kinds)
    require_ranges(entry, dict.fromkeys(kinds, (0, LARGEST_COUNT)))
    found = TextCounts(**entry)
    if found.known_tokens > found.tokens or found.unknown_documents > found.documents:
        raise InputError("more words or documents are counted in part than in all")
    return found
