"""Hot reload: the server follows the collection's folder. Writes over HTTP.

A collection changes in one step, when its manifest is replaced. A thread checks that file ten times
a second. When it differs, the new state is opened and replaces the old one in one step. A request
takes the current state once, so it never sees parts of two. The old state is closed with the last
request that uses it.

One thread writes. Requests that wait at the same moment share a commit, as far as they stand next
to each other: those that upsert documents, and those that remove documents by ids. They are applied
in the order in which they came, and answered when they are on disk. A request that is sent again
changes nothing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import groupby
from typing import TypeAlias, TypeVar

import pyarrow as pa

from deltavec.collection.collection import Collection
from deltavec.collection.ids import as_array
from deltavec.collection.manifest import COLLECTION_FOLDER, LockedError
from deltavec.collection.open import refresh
from deltavec.collection.query import make_ready
from deltavec.collection.segment import ID, TEXT
from deltavec.errors import DeltavecError, InputError
from deltavec.server.batching import TurnLock
from deltavec.server.errors import RequestError, as_json, busy, invalid
from deltavec.server.explorer import Explorer
from deltavec.server.metrics import FIELDS, Metrics, log, log_error
from deltavec.server.requests import RemoveByFilterRequest, RemoveRequest, WriteRequest

SECONDS = 0.1  # between two checks
Write: TypeAlias = WriteRequest | RemoveRequest | RemoveByFilterRequest
Result = TypeVar("Result")
RETRY_SECONDS = 0.02  # between attempts while another process writes


class Reloader:
    """What is served, kept up to date.

    Parameters
    ----------
    explorer
        What is served at first. The attribute `explorer` is what is served at the moment; a request
        takes it once.
    metrics
        Where the memory of the process is reported, at each check.
    """

    def __init__(self, explorer: Explorer, metrics: Metrics) -> None:
        self.explorer = explorer
        self.metrics = metrics
        self.seen: tuple[int, ...] | None = None
        self.reported = ""
        self.stopping = threading.Event()
        self.checking = threading.Lock()

    def start(self) -> None:
        """Check the folder from now on."""
        self.stopping.clear()
        threading.Thread(target=self._follow, name="deltavec-reload", daemon=True).start()

    def stop(self) -> None:
        """Check no more; a check that has started is finished."""
        self.stopping.set()

    def _follow(self) -> None:
        while not self.stopping.wait(SECONDS):
            try:
                self.metrics.read_memory()
                self.check()
            except Exception as error:
                log_error(error)  # whatever it was, the server goes on with the current state

    def check(self) -> None:
        """Serve the state on disk; if it cannot be opened, log that and keep the current one."""
        with self.checking:  # a write has just changed it
            self._check()

    def _check(self) -> None:
        path = self.explorer.collection.path / COLLECTION_FOLDER.manifest
        try:
            status = path.stat()
            found = status.st_ino, status.st_mtime_ns, status.st_size
            if found == self.seen:
                if (drawn := self.explorer.map_view.finished()) is not None:
                    self.explorer = replace(self.explorer, map_view=drawn)
                return
            collection = refresh(self.explorer.collection)
        except (OSError, DeltavecError) as error:
            self._report(error)
            return
        if collection is not self.explorer.collection:
            make_ready(collection.index, collection.words)
            map_view = self.explorer.map_view.after(collection)
            self.explorer = replace(self.explorer, collection=collection, map_view=map_view)
            log.info("collection changed", extra={FIELDS: {"documents": len(collection)}})
        self.seen, self.reported = found, ""

    def _report(self, error: Exception) -> None:
        """Log an error once, not each second."""
        name = type(error).__name__
        if name != self.reported:
            event = "the collection cannot be read; an earlier state is served"
            log.error(event, extra={FIELDS: {"error": name}})
        self.reported = name


class CollectionWriter:
    """Applies batches of writes to what is served.

    Parameters
    ----------
    reloader
        What is served; it shows a write as soon as it is on disk.
    seconds
        How long to wait for another process that writes.
    """

    def __init__(self, reloader: Reloader, seconds: float) -> None:
        self.reloader = reloader
        self.seconds = seconds

    def write(
        self, batch: Sequence[Write], threads: int, turn: TurnLock
    ) -> Iterable[bytes | Exception]:
        """The answers to some requests, in their order."""
        answers: list[bytes | Exception] = []
        for kind, some in groupby(batch, type):
            together = list(some)
            alone = [[one] for one in together] if kind is RemoveByFilterRequest else [together]
            for part in alone:
                answers += self._apply(kind, part)
        return answers

    def _apply(self, kind: type[Write], part: Sequence[Write]) -> list[bytes | Exception]:
        """The answers to requests of one kind, which share a commit."""
        try:
            if kind is WriteRequest:
                return self._upsert([one for one in part if isinstance(one, WriteRequest)])
            if kind is RemoveRequest:
                return self._remove([one.id for one in part if isinstance(one, RemoveRequest)])
            [one] = part
            assert isinstance(one, RemoveByFilterRequest)
            before = self.reloader.explorer.collection.description.removed
            after = self._change(lambda collection: collection.remove(filter=one.filter))
            return [as_json({"removed": after.description.removed - before})]
        except InputError as error:
            return [invalid(str(error))] * len(part)
        except DeltavecError as error:
            log_error(error)
            refusal = RequestError(507, "the disk cannot be written to; nothing has changed")
            return [refusal] * len(part)
        except Exception as error:
            return [error] * len(part)
        finally:
            self.reloader.check()

    def _upsert(self, part: Sequence[WriteRequest]) -> list[bytes | Exception]:
        collection = self.reloader.explorer.collection
        stated = collection.description
        if not stated.id_column:
            return [invalid("the documents of this collection are numbered: they have no ids")] * (
                len(part)
            )
        answers: list[bytes | Exception] = []
        latest: dict[str, dict[str, object]] = {}
        for one in part:
            try:
                table = pa.Table.from_pylist(one.documents, collection.store.schema)
                unknown = {name for row in one.documents for name in row} - set(table.column_names)
                if unknown or table.column(ID).null_count or table.column(TEXT).null_count:
                    names = ", ".join(table.column_names)
                    raise pa.ArrowInvalid(f"a document has an id, a text, and no others of {names}")
            except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
                answers.append(invalid(f"documents: {error}"[:1000], "documents"))
                continue
            latest |= {str(row[ID]): row for row in one.documents}
            answers.append(as_json({"written": len(one.documents)}))
        if latest:
            # The last of several documents with an id is the one that stays.
            table = pa.Table.from_pylist(list(latest.values()), collection.store.schema)
            table = table.rename_columns([stated.id_column, stated.text_column, *stated.columns])
            if stated.title_column not in ("", *stated.columns):  # texts come with their titles
                nothing = pa.nulls(len(table), pa.string())
                table = table.append_column(stated.title_column, nothing)
            self._change(lambda collection: collection.add(table, update=True))
        return answers

    def _remove(self, ids: Sequence[str]) -> list[bytes | Exception]:
        collection = self.reloader.explorer.collection
        distinct = list(dict.fromkeys(ids))
        there = {distinct[n] for n in collection.rows_of(as_array(distinct))[0].tolist()}
        if there:
            self._change(lambda collection: collection.remove(distinct, missing_ok=True))
        answers: list[bytes | Exception] = []
        for id in ids:
            answers.append(as_json({"removed": int(id in there)}))
            there.discard(id)
        return answers

    def _change(self, change: Callable[[Collection], Result]) -> Result:
        """Change the collection, as soon as no other process writes to it."""
        until = time.monotonic() + self.seconds
        while time.monotonic() < until:
            with suppress(LockedError):
                return change(self.reloader.explorer.collection)
            time.sleep(RETRY_SECONDS)
        raise busy("another process is writing to the collection: try again in a second")
