"""The lists of an approximate index: each row is in the list of the centre that it is nearest to.

Centres come from a sample of the rows (spherical k-means: Dhillon and Modha 2001). A search looks
through the lists whose centres are nearest to its query, and passes over the rest. Of the rows
there, codes of a byte a number tell most that cannot be among the best, as in an exact search
(`deltavec.search.quantized.kernels`); the others are scored as there, to the last bit. So a row
that is found has the same score either way, and only a missing one tells the two apart. Rows of
zeros have a list of their own, the last, which every search looks through.

There is no random part but a seeded sample, and no thread sees another's work: the same rows make
the same lists.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from deltavec.core.arrays import Float32s, Int64s, frozen
from deltavec.core.threads import on_threads, one_blas_thread, thread_count
from deltavec.errors import InputError
from deltavec.search.approximately.kernels import Shelf
from deltavec.search.matrix import Pieces
from deltavec.search.quantized.build import MadeSieve, made_sieve

LEAST_EXPANSION, TIMES_THE_ROOT = 64, 2.8  # of how many lists there are, by default
LARGEST_EXPANSION = 100_000
MOST_LISTS = 65_536
TOO_FEW = 2  # times as many lists would suit: with four times as many rows
SAMPLED = 40  # rows for each centre
ROUNDS = 6
ROWS_AT_ONCE = 2048


@dataclass(frozen=True, eq=False)
class Lists:
    """Which list each row is in.

    Attributes
    ----------
    centres : ndarray of float32, shape (lists, dimensions)
        Of unit length, or zero.
    homes : ndarray of int64
        The number of each row's list; that of a row of zeros is one beyond the centres.
    asked_for : int or None
        How many lists a search looks through; by default as many as suit their number.
    """

    centres: Float32s
    homes: Int64s
    asked_for: int | None
    kept: list[tuple[Float32s, Shelf, MadeSieve]] = field(default_factory=list)
    making: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(cls, pieces: Pieces, expansion: int | None, threads: int | None) -> Lists:
        """The lists of these rows; without an expansion, one that suits their number."""
        if expansion is not None:
            require_expansion(expansion)
        centres = centres_of(pieces, threads)
        return cls(centres, homes_of(pieces, centres, threads), expansion)

    @classmethod
    def stored(cls, centres: Float32s, homes: Int64s, expansion: int) -> Lists:
        """Lists that were stored; nobody asked for an expansion that is the default."""
        return cls(centres, homes, None if expansion == default_expansion(centres) else expansion)

    @property
    def expansion(self) -> int:
        """How many lists a search looks through."""
        return self.asked_for or default_expansion(self.centres)

    def expanded(self, expansion: int) -> Lists:
        """The same, so many of which a search looks through."""
        require_expansion(expansion)
        return replace(self, asked_for=int(expansion))

    @property
    def zero_rows(self) -> int:
        """How many rows are zero."""
        return int((self.homes == len(self.centres)).sum())

    def with_more(self, more: Pieces, whole: Pieces, threads: int | None) -> Lists:
        """The lists with more rows behind the others; new ones if there are far too few by now.

        Parameters
        ----------
        more
            The rows behind the others.
        whole
            The others, and these.
        threads
            How many cores.
        """
        homes = np.concatenate([self.homes, homes_of(more, self.centres, threads)])
        lists = replace(self, homes=homes)
        too_few = lists_for(len(whole)) >= TOO_FEW * len(self.centres)
        # Where most rows are zero there may be no more centres to be had.
        if not len(self.centres) or (too_few and 2 * lists.zero_rows <= len(whole)):
            return Lists.of(whole, self.asked_for, threads)
        return lists

    def at_rows(self, rows: Int64s) -> Lists:
        """The lists of these rows only; they are in ascending order."""
        return replace(self, homes=self.homes[rows])

    def shelves(self, pieces: Pieces, threads: int | None) -> Iterator[tuple[Shelf, MadeSieve]]:
        """The shelf of each piece, and the sieve that stands on it."""
        with self.making:
            kept = list(self.kept)
            self.kept[:] = [self._shelf(kept, *piece, threads) for piece in pieces]
            return ((shelf, made) for _, shelf, made in list(self.kept))

    def _shelf(
        self,
        kept: list[tuple[Float32s, Shelf, MadeSieve]],
        begin: int,
        array: Float32s,
        threads: int | None,
    ) -> tuple[Float32s, Shelf, MadeSieve]:
        for one in kept:
            if one[0] is array:
                return one
        homes = self.homes[begin : begin + len(array)]
        order = np.argsort(homes, kind="stable")
        begins = np.searchsorted(homes[order], np.arange(len(self.centres) + 2))
        # No heads: the rows of a near list are alike, and heads would let too many of them pass.
        no_heads = np.zeros((array.shape[1], 0))
        made = made_sieve(array, threads, frozen(order), no_heads)
        return array, Shelf(frozen(order), frozen(begins), made.sieve), made


def lists_for(rows: int) -> int:
    """How many lists suit so many rows: twice the square root."""
    return min(MOST_LISTS, max(1, round(2 * math.sqrt(rows))))


def default_expansion(centres: Float32s) -> int:
    """How many of the lists with these centres a search looks through if nobody says so.

    Their root times a constant: with rows that are hard to put into lists the same share of the
    best is found so, however many rows there are (docs/decisions/0026).
    """
    return max(LEAST_EXPANSION, round(TIMES_THE_ROOT * math.sqrt(len(centres))))


def centres_of(pieces: Pieces, threads: int | None) -> Float32s:
    """The centres for these rows, as many as suit their number."""
    count = lists_for(len(pieces))
    chosen = np.random.default_rng(0).permutation(len(pieces))[: SAMPLED * count]
    sample = pieces.at(chosen)
    sample = np.ascontiguousarray(sample[sample.any(axis=1)])
    centres = sample[:count].copy()
    for _ in range(ROUNDS if len(centres) else 0):
        homes = nearest_centres(sample, centres, threads)
        sums = np.zeros(centres.shape)
        np.add.at(sums, homes, sample)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1), centres)
        centres = centres.astype(np.float32)
    return frozen(centres)


def homes_of(pieces: Pieces, centres: Float32s, threads: int | None) -> Int64s:
    """The number of each row's list."""
    homes = [np.empty(0, np.int64)]
    for _, array in pieces:
        own = np.full(len(array), len(centres), np.int64)
        is_zero = ~array.any(axis=1)
        if len(centres):
            own = np.where(is_zero, own, nearest_centres(array, centres, threads))
        homes.append(own)
    return np.concatenate(homes)


def nearest_centres(
    vectors: Float32s, centres: Float32s, threads: int | None
) -> npt.NDArray[np.int64]:
    """The number of the centre that each row is nearest to."""

    def nearest(first: int) -> npt.NDArray[np.int64]:
        return np.asarray((vectors[first : first + ROWS_AT_ONCE] @ centres.T).argmax(axis=1))

    with one_blas_thread():
        firsts = range(0, len(vectors), ROWS_AT_ONCE)
        found = list(on_threads(nearest, firsts, thread_count(threads)))
    return np.concatenate([np.empty(0, np.int64), *found])


def require_expansion(expansion: int) -> None:
    """Refuse what is not a number of lists that a search can look through."""
    is_number = isinstance(expansion, int | np.integer) and not isinstance(expansion, bool)
    if not is_number or not 1 <= expansion <= LARGEST_EXPANSION:
        raise InputError(
            f"expansion must be a whole number from 1 to {LARGEST_EXPANSION:,}, got {expansion!r}"
        )
