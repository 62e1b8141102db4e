"""Hot reload: the server follows the collection's folder.

A collection changes in one step, when its manifest is replaced. A thread checks that file once a
second. When it differs, the new state is opened and replaces the old one in one step. A request
takes the current state once, so it never sees parts of two. The old state is closed with the last
request that uses it.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from deltavec.collection.manifest import COLLECTION_FOLDER
from deltavec.collection.open import refresh
from deltavec.collection.query import make_ready
from deltavec.errors import DeltavecError
from deltavec.server.explorer import Explorer
from deltavec.server.log import FIELDS, log, log_error
from deltavec.server.metrics import Metrics

SECONDS = 1.0  # between two checks


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
