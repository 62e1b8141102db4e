"""Reading a few items ahead in a thread of its own, while the caller works on those before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from queue import Empty, Queue
from threading import Event, Thread
from typing import TypeVar

from deltavec.io.corpus.columns import Piece
from deltavec.io.corpus.corpus import Corpus

Item = TypeVar("Item")


@contextmanager
def read_ahead(items: Iterable[Item], depth: int = 2) -> Iterator[Iterator[Item]]:
    """The same items, taken by another thread up to `depth` of them ahead.

    Leaving the context stops the thread after the item it is at. It does not wait for it: a thread
    that waits for bytes from a pipe may wait for ever.
    """
    # Each item in a tuple, and at the end the error that there was, if any.
    ready: Queue[tuple[Item] | BaseException | None] = Queue(depth)
    stopped = Event()

    def fill() -> None:
        end: BaseException | None = None
        try:
            for item in items:
                ready.put((item,))
                if stopped.is_set():
                    return
        except BaseException as error:
            end = error
        ready.put(end)

    def taken() -> Iterator[Item]:
        while isinstance(entry := ready.get(), tuple):
            yield entry[0]
        if entry is not None:
            raise entry

    Thread(target=fill, name="deltavec-read-ahead", daemon=True).start()
    try:
        yield taken()
    finally:
        stopped.set()
        with suppress(Empty):
            while True:  # room for the one item that may be on its way
                ready.get_nowait()


def pieces_ahead(corpus: Corpus, columns: Sequence[str]) -> AbstractContextManager[Iterator[Piece]]:
    """The documents of a corpus with other columns beside them, read ahead where that is safe."""
    pieces = corpus.pieces(columns)
    if corpus.files or corpus.text is not None:
        return read_ahead(pieces)
    return nullcontext(pieces)  # a caller's generator may belong to the caller's thread
