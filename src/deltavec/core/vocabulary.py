"""Words and their ids: the hash table that the kernels read, and a dictionary for a few words."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import offsets_of, pack
from deltavec.core.jit import BUDGET
from deltavec.core.kernels import hashing
from deltavec.core.text.batches import encode
from deltavec.core.text.rules import rule
from deltavec.core.tokens import TermBuffers
from deltavec.errors import InputError

# Drawn by each process: the author of a corpus cannot know which words share a slot.
SECRET = np.uint64(secrets.randbits(64))


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Distinct words; the id of a word is its place.

    Parameters
    ----------
    data
        The words' UTF-8 bytes, one after the other.
    offsets
        Where each word begins in ``data``, and where the last one ends.

    Examples
    --------
    >>> vocabulary = Vocabulary.of(["the", "room"])
    >>> vocabulary.ids(["room", "pool"])
    array([ 1, -1])
    """

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]

    def __post_init__(self) -> None:
        for array in (self.data, self.offsets):
            array.flags.writeable = False
        # Either refuses a word that comes twice. The dictionary takes a fraction of a microsecond
        # a word, the table a tenth of that, once the compiler is there.
        _ = self.table if BUDGET.loaded else self.numbers

    @functools.cached_property
    def table(self) -> hashing.VocabTable:
        """The words as the kernels look them up."""
        count = len(self.offsets) - 1
        # At most half full, so that a search for an absent word ends after a step or two.
        slots = np.zeros(4 * power_of_two(max(count, 8)), np.uint64)
        longest = int(np.diff(self.offsets).max(initial=0))
        table = hashing.VocabTable(slots, self.data, self.offsets, longest, SECRET)
        clash = hashing.fill_slots(table, rule("words"), 0)
        if clash >= 0:
            raise duplicate_token(self.word(clash))
        slots.flags.writeable = False
        return table

    @functools.cached_property
    def _spare(self) -> list[TermBuffers]:
        return []

    @contextmanager
    def scratch(self) -> Iterator[TermBuffers]:
        """Room for the terms of documents, the caller's own while the context lasts.

        It is kept for the next caller: fresh memory costs more than a short document does. There
        are as many as were ever wanted at the same time.
        """
        try:
            room = self._spare.pop()
        except IndexError:
            room = TermBuffers(len(self), self.table.longest)
        yield room
        self._spare.append(room)  # not after an error: counts may be left in it

    @functools.cached_property
    def numbers(self) -> dict[bytes, int]:
        """The id of each word, to look up a few without the kernels."""
        text, ends = self.data.tobytes(), self.offsets.tolist()
        found = {text[begin:end]: number for number, (begin, end) in enumerate(pairwise(ends))}
        if len(found) < len(self):
            last_of_each = set(found.values())
            raise duplicate_token(
                self.word(next(n for n in range(len(self)) if n not in last_of_each))
            )
        return found

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        """The vocabulary of these words, in their order."""
        return cls(*pack(encode(words)))

    def __reduce__(self) -> tuple[Any, ...]:
        return Vocabulary, (self.data, self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self.ids([word])[0] >= 0)

    def word(self, number: int) -> str:
        """The word with this id."""
        begin, end = self.offsets[number], self.offsets[number + 1]
        return self.data[begin:end].tobytes().decode()

    @functools.cached_property
    def words(self) -> list[str]:
        """All words, in the order of their ids."""
        text, ends = self.data.tobytes(), self.offsets.tolist()
        return [text[begin:end].decode() for begin, end in pairwise(ends)]

    def ids(self, words: Sequence[str]) -> npt.NDArray[np.int64]:
        """The id of each of these words, -1 for a word that is not here."""
        if "table" in self.__dict__:
            return hashing.look_up_all(*pack(encode(words)), self.table)
        return np.array([self.numbers.get(word, -1) for word in encode(words)], np.int64)

    def taken(self, order: npt.NDArray[np.int64]) -> Vocabulary:
        """The vocabulary of the words with these ids, in this order."""
        lengths = np.diff(self.offsets)[order]
        offsets = offsets_of(lengths)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[order] - offsets[:-1], lengths)
        return Vocabulary(self.data[places], offsets)


def duplicate_token(word: str) -> InputError:
    """The error for a word that comes more than once."""
    return InputError(f"words must be distinct, got {word!r} twice")


def power_of_two(number: int) -> int:
    """The smallest power of two that is not below the number."""
    return 1 << (number - 1).bit_length()
