"""Pages of text that are unpacked when they are wanted, in the thread of whoever wants them.

Reading a file is then little more than reading the headers of its pages, and as many threads unpack
as work on the documents. Each opens the file anew, and sees that it is still the same.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import BinaryIO, NamedTuple

import pyarrow as pa

from deltavec.errors import CorpusError
from deltavec.io.corpus.footers import Chunk
from deltavec.io.corpus.plain.pages import OddError, Page, texts_of


class State(NamedTuple):
    """What a file is known by: another one in its place differs, and so does a changed one."""

    device: int
    number: int
    size: int
    modified: int

    @classmethod
    def of(cls, file: BinaryIO) -> State:
        """The state of an opened file."""
        seen = os.fstat(file.fileno())
        return cls(seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns)


@dataclass(frozen=True)
class PackedTexts:
    """The texts of some pages in a row.

    Attributes
    ----------
    path, state : Path, State
        The file, and what it was when the headers of the pages were read.
    chunk, optional, pages : Chunk, bool, list of Page
        Where the pages are, and whether they say of each row if it has a text.
    odd : Event
        Set once a page is not of the usual form, which its header does not tell.
    """

    path: Path
    state: State
    chunk: Chunk
    optional: bool
    pages: list[Page]
    odd: Event

    @property
    def documents(self) -> int:
        """How many texts there are."""
        return sum(page.values for page in self.pages)

    @property
    def size(self) -> int:
        """Their bytes, with the length of each."""
        return sum(page.size for page in self.pages)

    def unpacked(self) -> pa.Array | None:
        """The texts; None if a page is odd.

        Raises
        ------
        CorpusError
            If the file is another one by now.
        """
        with self.path.open("rb") as file:
            if State.of(file) != self.state:
                raise CorpusError(f"{self.path}: changed while it was read; read it again")
            try:
                return texts_of(file, self.chunk, self.optional, self.pages)
            except OddError:
                self.odd.set()
                return None
