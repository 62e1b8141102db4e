"""Artifacts: the folders that deltavec writes, each with a manifest and its checksum.

The first entry of the manifest is the SHA-256 of the file itself, computed with sixty-four zeros in
its own place. It guards against accidents, not against attacks: an attacker can compute it again,
so every value is validated as well.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

from deltavec.errors import InputError
from deltavec.io.artifacts.atomic import UNFINISHED, replacing, replacing_folder, sha256
from deltavec.version import __version__

Entries: TypeAlias = Mapping[str, Any]
Content = TypeVar("Content")

LONGEST = 1 << 20  # bytes; a real one has about a thousand
LARGEST_COUNT = 1 << 53  # above it JSON readers that know only float64 lose digits
NO_CHECKSUM = b"0" * 64
CHECKSUM = re.compile(rb'\{\n  "checksum": "([0-9a-f]{64})"')
IN_EVERY_MANIFEST = ("checksum", "format", "format_version", "library_version")
ANOTHER_NAME = "choose another name"
KINDS_OF_VALUES: dict[type[Any], str] = {
    str: "a string",
    int: "a whole number",
    float: "a finite number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
}


@dataclass(frozen=True)
class Artifact:
    """A kind of folder that deltavec writes: a model, an index, a collection, an export.

    Attributes
    ----------
    name : str
        What it is called.
    version : int
        The version of its format.
    manifest : str
        The file that says what it is.
    files : re.Pattern
        The names of the files in it.
    error : type
        What is raised for a folder that cannot be used.
    folders : mapping of str to Artifact
        The folders in it.
    """

    name: str
    version: int
    manifest: str
    files: re.Pattern[str]
    error: type[InputError] = InputError
    folders: Mapping[str, Artifact] = field(default_factory=dict)

    @property
    def format(self) -> str:
        """The name of its format, in its manifest."""
        return f"deltavec {self.name}"

    def write_manifest(self, folder: Path, entries: Entries) -> None:
        """Write the manifest of a folder, with its checksum, in one step."""
        with replacing(folder / self.manifest) as temporary:
            temporary.write_bytes(self.encode(entries))

    def read_manifest(self, folder: Path) -> dict[str, Any]:
        """The entries in the manifest of a folder."""
        with self.opened(folder / self.manifest) as file:
            return self.decode(file.read(LONGEST + 1))

    def encode(self, entries: Entries) -> bytes:
        """The entries as a manifest."""
        about = {
            "format": self.format,
            "format_version": self.version,
            "library_version": __version__,
        }
        return with_checksum({**about, **entries})

    def decode(self, data: bytes) -> dict[str, Any]:
        """The entries of a manifest that is undamaged, of this format and its version."""
        what = f"damaged, or not a {self.format}"
        start = CHECKSUM.match(data)
        if len(data) > LONGEST:
            raise InputError(f"expected at most {LONGEST:,} bytes: {what}")
        if start is None:
            raise InputError(f"the first line is not a checksum: {what}")
        blank = data[: start.start(1)] + NO_CHECKSUM + data[start.end(1) :]
        require_checksum(hashlib.sha256(blank).hexdigest(), start[1].decode())
        try:
            entries: dict[str, Any] = json.loads(data.decode())
        except (ValueError, RecursionError) as error:
            raise InputError(f"expected JSON: {error}") from None
        found, version = entries.get("format"), entries.get("format_version")
        if found != self.format:
            raise InputError(f"expected the format {self.format!r}, got {found!r:.60}")
        if type(version) is not int or version != self.version:
            newer = type(version) is int and version > self.version
            raise InputError(
                f"expected version {self.version} of the format, got {version!r:.60}"
                + (": written by a newer deltavec; upgrade deltavec" if newer else "")
            )
        return {name: value for name, value in entries.items() if name not in IN_EVERY_MANIFEST}

    def require_replaceable(self, folder: Path) -> None:
        """Refuse to write where something else is."""
        with problems_of(folder, self.error):
            if not os.path.lexists(folder):
                return
            if not folder.is_dir():
                raise InputError(f"expected a folder, or nothing, found a file: {ANOTHER_NAME}")
            for entry in folder.iterdir():
                is_ours = entry.is_file() and self.files.fullmatch(entry.name) is not None
                if not (entry.is_dir() if entry.name in self.folders else is_ours):
                    what = f"holds {entry.name!r}, which is not part of a {self.format}"
                    raise InputError(f"the folder {what}, and is left alone: {ANOTHER_NAME}")
            mark = json.dumps({"format": self.format}).strip("{}").encode()
            start = b""
            if (folder / self.manifest).is_file():
                with (folder / self.manifest).open("rb") as file:
                    start = file.read(1024)
            if any(folder.iterdir()) and mark not in start:
                what = f"is not a {self.format}"
                raise InputError(f"the folder {what}, and is left alone: {ANOTHER_NAME}")

    def replacing(self, folder: Path) -> AbstractContextManager[Path]:
        """A new folder that replaces this one, in one step, at the end of the context."""
        self.require_replaceable(folder)
        return replacing_folder(folder, self.remove)

    def remove(self, folder: Path) -> None:
        """Remove a folder of this kind; files that are not part of it stay, and the folder too."""
        # A file in use, on Windows, is no reason to call a save failed.
        with suppress(OSError):
            for name, kind in self.folders.items():
                if not (folder / name).is_symlink():  # its target is not ours
                    kind.remove(folder / name)
            for entry in list(folder.iterdir()):
                unfinished = re.fullmatch(UNFINISHED, entry.name)
                if unfinished and entry.is_dir() and not entry.is_symlink():
                    for kind in self.folders.values():
                        kind.remove(entry)
                elif unfinished or self.files.fullmatch(entry.name):
                    entry.unlink()
            folder.rmdir()

    def read_whole(self, folder: Path, read: Callable[[Path], Content]) -> Content:
        """What `read` gives for a folder that another process may replace meanwhile."""
        while True:
            before = self.identity(folder)
            try:
                content = read(folder)
            except InputError:
                if self.identity(folder) == before:
                    raise
            else:
                if self.identity(folder) == before:
                    return content
            # The folder was replaced between the reading of two files: once more.

    def identity(self, folder: Path) -> tuple[int, int, int]:
        """What tells a folder from the one that replaces it."""
        with problems_of(folder, self.error):
            if not folder.is_dir():
                what = "a file" if folder.exists() else "nothing there"
                raise InputError(f"expected the folder of a {self.format}, found {what}")
            status = folder.stat()
            return status.st_dev, status.st_ino, status.st_mtime_ns  # inodes are used again

    @contextmanager
    def opened(self, path: Path) -> Iterator[BinaryIO]:
        """One of its files, open for reading; an error inside begins with its name."""
        with problems_of(path, self.error):
            if not path.is_file():
                raise InputError(f"the file is missing: damaged, or not a {self.format}")
            with path.open("rb") as file:
                yield file


def names(files: Iterable[str]) -> re.Pattern[str]:
    """A pattern of just these names."""
    return re.compile("|".join(map(re.escape, files)))


def with_checksum(entries: Entries) -> bytes:
    """The entries as JSON that begins with its own checksum; floats keep all their digits."""
    content = {"checksum": NO_CHECKSUM.decode(), **entries}
    blank = json.dumps(content, indent=2, allow_nan=False).encode() + b"\n"
    if len(blank) > LONGEST:
        raise InputError(
            f"notes are too long, or columns too many: a manifest has {LONGEST:,} bytes"
        )
    return blank.replace(NO_CHECKSUM, hashlib.sha256(blank).hexdigest().encode(), 1)


def require_types(entries: Entries, kinds: Mapping[str, type[Any]]) -> None:
    """Refuse entries other than these, or of other types."""
    if odd := sorted(entries.keys() ^ kinds.keys()):
        what = "is missing" if odd[0] in kinds else "is unknown"
        raise InputError(f"the entry {odd[0]!r:.60} {what}")
    for name, kind in kinds.items():
        value = entries[name]
        if type(value) is not kind or (kind is float and not math.isfinite(value)):
            raise InputError(f"{name} must be {KINDS_OF_VALUES[kind]}, got {value!r:.60}")


def require_ranges(entries: Entries, ranges: Mapping[str, tuple[float, float]]) -> None:
    """Refuse numbers that are too small or too large; missing ones are not checked."""
    for name, (smallest, largest) in ranges.items():
        value = entries.get(name, smallest)
        if not smallest <= value <= largest:
            raise InputError(f"{name} must be from {smallest} to {largest}, got {value!r:.60}")


def require_size(file: BinaryIO, expected: int) -> None:
    """Refuse a file of another length."""
    found = os.fstat(file.fileno()).st_size
    if found != expected:
        raise InputError(f"expected {expected:,} bytes, found {found:,}: the file is cut short")


def require_unchanged(file: BinaryIO, expected: str, begin: int = 0) -> None:
    """Refuse a file with another checksum, computed from an offset on."""
    require_checksum(sha256(file, begin), expected)


def require_checksum(found: str, expected: str) -> None:
    """Refuse content that has another checksum."""
    if found != expected:
        raise InputError("the content does not have its checksum: the file is damaged")


@contextmanager
def problems_of(path: Path, kind: type[InputError] = InputError) -> Iterator[None]:
    """Turn errors into errors of this kind whose message begins with the path."""
    try:
        yield
    except InputError as error:
        raise kind(f"{path}: {error}") from None
    except OSError as error:
        raise kind(f"{path}: {(error.strerror or str(error)).lower()}") from error
