"""Connections on which no request comes."""

from __future__ import annotations

import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest

uvicorn = pytest.importorskip("uvicorn")

from deltavec.serve import patience  # noqa: E402


async def hello(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"hello"})


async def size_of_body(scope: Any, receive: Any, send: Any) -> None:
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message["body"]), message["more_body"]
    body = b"%d" % size
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def served(most: int, app: Any = hello) -> Iterator[tuple[str, int]]:
    listening = socket.create_server(("127.0.0.1", 0), backlog=100)
    config = uvicorn.Config(
        app, http=patience.ImpatientProtocol, lifespan="off", ws="none",
        log_level="critical", limit_concurrency=most,
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield listening.getsockname()
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


def is_closed(connection: socket.socket) -> bool:
    """Whether the other side ends the connection, waited for."""
    try:
        while connection.recv(1000):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: local"])
def test_a_connection_without_a_whole_request_is_closed(monkeypatch, sent):
    monkeypatch.setattr(patience, "SECONDS", 0.3)
    with served(100) as address, socket.create_connection(address, timeout=20) as silent:
        silent.sendall(sent)
        assert is_closed(silent)


def test_a_second_request_that_never_ends_is_closed_too(monkeypatch):
    monkeypatch.setattr(patience, "SECONDS", 0.3)
    with served(100) as address, socket.create_connection(address, timeout=20) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert slow.recv(1000).startswith(b"HTTP/1.1 200")
        slow.sendall(b"GET / HTTP/1.1\r\n")
        assert is_closed(slow)


CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
ENDLESS = {
    "a name": (b"GET / HTTP/1.1\r\nHost", b"x"),
    "a value": (b"GET / HTTP/1.1\r\nHost: ", b"x"),
    "an address": (b"GET /", b"x"),
    "headers": (b"GET / HTTP/1.1\r\n", b"Name: value\r\n"),
    "a chunk's extension": (CHUNKED + b"1;", b"x"),
    "what follows the chunks": (CHUNKED + b"0\r\n", b"Name: value\r\n"),
}


@pytest.mark.parametrize("what", ENDLESS)
def test_a_head_without_an_end_is_refused_before_much_of_it_is_kept(what):
    begin, again = ENDLESS[what]
    piece, sent = again * (10_000 // len(again)), 0
    with served(100) as address, socket.create_connection(address, timeout=20) as endless:
        endless.sendall(begin)
        with suppress(ConnectionError):
            while sent < 100_000_000:
                endless.sendall(piece)
                sent += len(piece)
        assert sent < 100_000_000
        with socket.create_connection(address, timeout=20) as other:
            other.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert other.recv(1000).startswith(b"HTTP/1.1 200")


def test_a_long_body_in_small_pieces_is_no_long_head():
    whole = CHUNKED + 30_000 * b"1\r\nx\r\n" + b"0\r\n\r\n"
    with (
        served(100, app=size_of_body) as address,
        socket.create_connection(address, timeout=20) as patient,
    ):
        patient.sendall(whole)
        answer = b""
        while not answer.endswith(b"\r\n\r\n30000"):
            answer += patient.recv(1000)
            assert answer.startswith(b"HTTP/1.1 200")


def test_many_silent_connections_shut_nobody_out(monkeypatch):
    monkeypatch.setattr(patience, "SPARED", 0.0)
    with served(20) as address, ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(socket.create_connection(address, timeout=20))
        with urllib.request.urlopen(f"http://{address[0]}:{address[1]}/", timeout=20) as answer:
            assert answer.read() == b"hello"
