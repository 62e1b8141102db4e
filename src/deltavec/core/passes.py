"""One pass over a chunk of documents on all cores: counts, or vectors.

A chunk is cut into pieces of about the same number of bytes, and threads take them one after the
other; the kernels hold no interpreter lock.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from deltavec.core import kernels
from deltavec.core.forms import FoldedVectors
from deltavec.core.kernels import Scratch, Texts
from deltavec.core.packing import equal_shares
from deltavec.core.statistics import CorpusStatistics
from deltavec.core.vocabulary import Vocabulary
from deltavec.errors import InputError

Result = TypeVar("Result")

BYTES_WORTH_A_THREAD = 65_536
PIECES_PER_THREAD = 6
GIANT_BYTES = 8 << 20  # a document from which on threads share it
GAP_WINDOW = 65_536


def thread_count(threads: int | None) -> int:
    """The threads to use: those asked for, or as many as this process has cores."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores()
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise InputError(f"threads must be a whole number from 1 on, got {threads!r}")
    return threads


def cores() -> int:
    """The machine's cores."""
    return os.cpu_count() or 1


def on_pieces(
    work: Callable[[int, int], Result], texts: Texts, threads: int | None, per_thread: int
) -> list[Result]:
    """What ``work`` gives for each piece, in the order of the documents."""
    size = int(texts.ends[-1] - texts.ends[0])
    workers = max(1, min(thread_count(threads), size // BYTES_WORTH_A_THREAD))
    if workers == 1:
        return [work(0, texts.documents)] if texts.documents else []
    with ThreadPoolExecutor(workers) as pool:
        pieces = equal_shares(texts.ends, workers * per_thread)
        return list(pool.map(lambda piece: work(*piece), pieces))


def counted(texts: Texts, vocabulary: Vocabulary, threads: int | None = None) -> CorpusStatistics:
    """The statistics of these documents."""

    def work(first: int, last: int) -> CorpusStatistics:
        token_counts = np.zeros(len(vocabulary), np.int64)
        document_counts = np.zeros(len(vocabulary), np.int64)
        tokens, unknown = kernels.count(
            texts, first, last, vocabulary.table, token_counts, document_counts
        )
        return CorpusStatistics(token_counts, document_counts, last - first, tokens, unknown)

    # One piece a thread: each makes counts of its own, as long as the vocabulary.
    return reduce(add, on_pieces(work, texts, threads, 1), CorpusStatistics.empty(len(vocabulary)))


def shared_out(
    texts: Texts, vocabulary: Vocabulary, threads: int | None = None
) -> npt.NDArray[np.float64]:
    """The sum over these documents of each word's share n_i / N of the document."""

    def work(first: int, last: int) -> npt.NDArray[np.float64]:
        shares = np.zeros(len(vocabulary))
        kernels.share_out(texts, first, last, vocabulary.table, shares)
        return shares

    return reduce(add, on_pieces(work, texts, threads, 1), np.zeros(len(vocabulary)))


def embedded(
    texts: Texts,
    vocabulary: Vocabulary,
    folded: FoldedVectors,
    threads: int | None = None,
    *,
    giant_bytes: int = GIANT_BYTES,
    vectors: npt.NDArray[np.float32] | None = None,
) -> npt.NDArray[np.float32]:
    """The vectors of these documents, one a row, of unit length or zero.

    They are written into ``vectors`` if it is given. A document of more than ``giant_bytes`` is cut
    up, so that all threads share it.
    """
    if vectors is None:
        vectors = np.empty((texts.documents, folded.rows.shape[1]), np.float32)
    begin = 0
    for giant in np.flatnonzero(np.diff(texts.ends) > giant_bytes).tolist():
        embed_small(between(texts, begin, giant), vocabulary, folded, threads, vectors[begin:giant])
        parts = cut_up(between(texts, giant, giant + 1), giant_bytes)
        embed_giant(parts, vocabulary, folded, threads, vectors[giant])
        begin = giant + 1
    embed_small(
        between(texts, begin, texts.documents), vocabulary, folded, threads, vectors[begin:]
    )
    return vectors


def embed_small(
    texts: Texts,
    vocabulary: Vocabulary,
    folded: FoldedVectors,
    threads: int | None,
    vectors: npt.NDArray[np.float32],
) -> None:
    """Write the vectors of documents that are shared out whole."""
    own = threading.local()

    def work(first: int, last: int) -> None:
        if not hasattr(own, "scratch"):
            own.scratch = Scratch.of(len(vocabulary))
        kernels.embed(texts, first, last, vocabulary.table, folded.terms, own.scratch, vectors)

    on_pieces(work, texts, threads, PIECES_PER_THREAD)


def embed_giant(
    parts: Texts,
    vocabulary: Vocabulary,
    folded: FoldedVectors,
    threads: int | None,
    vector: npt.NDArray[np.float32],
) -> None:
    """Write the vector of one document that was cut up: its words are counted on all threads."""
    statistics = counted(parts, vocabulary, threads)
    if statistics.known_tokens == 0:
        vector[:] = 0
        return
    occurrences = statistics.token_counts.astype(np.int32)
    kernels.embed_counts(occurrences, statistics.known_tokens, folded.terms, vector)


def between(texts: Texts, first: int, last: int) -> Texts:
    """The documents ``first`` to ``last``, on the same bytes."""
    return texts._replace(ends=texts.ends[first : last + 1])


def cut_up(document: Texts, size: int) -> Texts:
    """One document as parts of about this size, each cut behind a byte that parts words.

    Of UTF-8 text only ASCII bytes are looked at; one without any is not cut.
    """
    separates = document.rule.bytes == 0
    begin, end = document.ends.tolist()
    ends = [begin]
    while ends[-1] < end:
        ends.append(gap_after(document.data, ends[-1] + size, end, separates))
    return document._replace(ends=np.array(ends, np.int64))


def gap_after(
    data: npt.NDArray[np.uint8], place: int, end: int, separates: npt.NDArray[np.bool_]
) -> int:
    """The first place from here on that has a separating byte before it, or the end."""
    while place < end:
        window = separates[data[place - 1 : min(place - 1 + GAP_WINDOW, end)]]
        if window.any():
            return place + int(window.argmax())
        place += GAP_WINDOW
    return end
