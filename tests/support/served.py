"""A small collection to serve, an application asked without sockets, and one on a real socket."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema
import pyarrow as pa
import uvicorn
from pyarrow import parquet

import deltavec as dv
from deltavec.server.errors import SCHEMAS

TEXTS = {
    "sea": "A quiet beach by the sea. The sea was calm.",
    "room/1": "A quiet room with a large bed. We slept well in the room.",
    "room/2": "The room was loud, the bed was hard.",
    "..": "Breakfast by the sea, with fresh bread.",
    "odd ?#%&+\n\x01é": "Fresh bread and strong coffee for breakfast.",
    "empty": "",
    "<b>bold</b>": "Unknown gibberish: xyzzy plugh.",
    "coffee": "Strong coffee, loud street.",
}
# Those that hold a known word stand on the map.
PLACED = [name for name in TEXTS if name not in ("empty", "<b>bold</b>")]


def small_collection(folder: Path, recipe: str = "idf-delta-pca") -> dv.Collection:
    """Eight short documents with ids of all kinds, and two columns."""
    table = pa.table(
        {
            "name": list(TEXTS),
            "text": list(TEXTS.values()),
            "stars": [5, 4, 1, 3, 4, None, 2, 2],
            "kind": ["sea", "room", "room", "food", "food", None, "none", "food"],
        }
    )
    parquet.write_table(table, folder / "reviews.parquet")
    corpus = dv.read_corpus(folder / "reviews.parquet")
    known = [text for text in TEXTS.values() if "xyzzy" not in text]
    if recipe == "spectral":
        model = dv.fit(known * 3, recipe=recipe)
    else:
        vectors = dv.train_vectors(known * 3, dimensions=6)
        model = dv.fit(known, vectors, recipe)
    return dv.build_collection(
        model, corpus, folder / "reviews.idx", id_column="name", keep=["stars", "kind"]
    )


KEPT = ("words", "judged", "day", "begins")


def lee_collection(stories: Path, model: Path, folder: Path, kept: Sequence[str] = KEPT) -> Path:
    """The folder of a collection of stories, one to a line, with columns of several kinds."""
    lines = stories.read_text("utf-8").splitlines()
    table = pa.table(
        {
            "story": [f"story/{number}" for number in range(len(lines))],
            "text": lines,
            "words": [len(line.split()) for line in lines],
            "judged": [number >= len(lines) - 50 for number in range(len(lines))],
            "day": [date(2001, 6, 1) + timedelta(number) for number in range(len(lines))],
            "begins": [line.split()[0] for line in lines],
        }
    )
    parquet.write_table(table, folder.with_suffix(".parquet"))
    corpus = dv.read_corpus(folder.with_suffix(".parquet"))
    dv.build_collection(dv.load(model), corpus, folder, id_column="story", keep=kept)
    return folder


@dataclass(frozen=True)
class Answered:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        """The error, in the one form that errors have."""
        assert self.status >= 400
        assert set(self.json) == {"error"}
        error = self.json["error"]
        assert set(error) == {"type", "message", "param"}
        assert error["message"]
        assert "Traceback" not in self.body.decode()
        found: dict[str, Any] = error
        return found


async def asked(
    app: Any,
    method: str,
    path: str,
    *,
    query: str = "",
    body: Any = None,
    headers: Mapping[str, str] | None = None,
    pieces: list[bytes] | None = None,
    client: str = "127.0.0.1",
) -> Answered:
    """What an application answers to a request that comes over no socket."""
    content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    sent = {"host": "localhost", **(headers or {})}
    if content is not None and "content-type" not in sent:
        sent["content-type"] = "application/json"
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
        "scheme": "http", "path": path, "raw_path": quote(path, errors="replace").encode(),
        "root_path": "",
        "query_string": query.encode(), "client": (client, 1), "server": ("127.0.0.1", 80),
        "headers": [(k.lower().encode("latin-1"), v.encode("latin-1")) for k, v in sent.items()],
    }  # fmt: skip
    waiting = list(pieces) if pieces is not None else [content or b""]

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.Event().wait()  # the client stays
        piece = waiting.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(waiting)}

    parts: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        parts.append(message)

    await app(scope, receive, send)
    begun, *rest = parts
    found = {name.decode(): value.decode("latin-1") for name, value in begun["headers"]}
    return Answered(begun["status"], found, b"".join(part.get("body", b"") for part in rest))


def checked(name: str, content: Any) -> Any:
    """The content, if it is just what the schema says."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": SCHEMAS}}
    jsonschema.validate(content, schema)
    return content


def ask(app: Any, method: str, path: str, **options: Any) -> Answered:
    """The same, for one request alone."""
    return asyncio.run(asked(app, method, path, **options))


@contextmanager
def on_a_socket(app: Any) -> Iterator[str]:
    """The address of an application that runs in a thread of its own."""
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
