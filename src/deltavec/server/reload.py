"""What is served now: the collection as it is on disk, followed as it changes.

A collection changes in one step, when its description is replaced. A thread looks at that file once
a second; if it is another, the collection is opened as it is now, and takes the place of the one
before in one step too. A request takes what is served once, when it is begun: it sees the old state
or the new one, never some of both. The old one stays open for requests that are still at it, and is
let go with the last of them.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from deltavec.collection.folder import COLLECTION_FOLDER
from deltavec.collection.open import refreshed
from deltavec.collection.query import make_ready
from deltavec.errors import DeltavecError
from deltavec.server.explorer import Explorer
from deltavec.server.log import FIELDS, log, log_error

SECONDS = 1.0  # between two looks


class Live:
    """A collection that is served, and followed.

    Attributes
    ----------
    explorer : Explorer
        What is served now; a request takes it once.
    """

    def __init__(self, explorer: Explorer) -> None:
        self.explorer = explorer
        self.seen: tuple[int, ...] | None = None
        self.said = ""
        self.stopping = threading.Event()
        self.thread: threading.Thread | None = None

    def begin(self) -> None:
        """Look once in a while, from now on."""
        self.stopping.clear()
        self.thread = threading.Thread(target=self._follow, name="deltavec-follow", daemon=True)
        self.thread.start()

    def end(self) -> None:
        """Look no more; a look that has begun is finished by itself."""
        self.stopping.set()

    def _follow(self) -> None:
        while not self.stopping.wait(SECONDS):
            try:
                self.look()
            except Exception as error:
                log_error(error)  # whatever it was, what is served goes on

    def look(self) -> None:
        """Serve what is there now; what cannot be opened is told, and what was served goes on."""
        path = self.explorer.collection.path / COLLECTION_FOLDER.description
        try:
            status = path.stat()
            found = status.st_ino, status.st_mtime_ns, status.st_size
            if found == self.seen:
                return
            collection = refreshed(self.explorer.collection)
        except (OSError, DeltavecError) as error:
            self._tell(error)
            return
        if collection is not self.explorer.collection:
            make_ready(collection.index, collection.words)
            overview = self.explorer.overview.after(collection)
            self.explorer = replace(self.explorer, collection=collection, overview=overview)
            log.info("collection changed", extra={FIELDS: {"documents": len(collection)}})
        self.seen, self.said = found, ""

    def _tell(self, error: Exception) -> None:
        """Tell once of what is in the way, not each second."""
        said = type(error).__name__
        if said != self.said:
            event = "the collection cannot be read; an earlier state is served"
            log.error(event, extra={FIELDS: {"error": said}})
        self.said = said
