"""Connections on which no request comes."""

from __future__ import annotations

import asyncio
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest

uvicorn = pytest.importorskip("uvicorn")

from deltavec.server import patience  # noqa: E402


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


class Noted:
    """A transport that notes what is asked of it."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def close(self) -> None:
        self.done.append("closed")

    def is_closing(self) -> bool:
        return "closed" in self.done


def test_what_is_written_in_one_step_is_sent_together():
    async def written() -> list[Any]:
        noted = Noted()
        gathered = patience.Gathered(noted)
        gathered.write(b"head ")
        gathered.write(b"body")
        assert noted.done == []
        await asyncio.sleep(0)
        gathered.write(b"next")
        gathered.close()
        await asyncio.sleep(0)
        assert gathered.is_closing()
        return noted.done

    assert asyncio.run(written()) == [b"head body", b"next", "closed"]


def test_much_is_not_held_back():
    async def written() -> list[Any]:
        noted = Noted()
        gathered = patience.Gathered(noted)
        gathered.write(b"head ")
        gathered.write(bytes(patience.LONGEST_HELD))
        sizes = [len(data) for data in noted.done]
        await asyncio.sleep(0)
        assert len(noted.done) == 1
        return sizes

    assert asyncio.run(written()) == [patience.LONGEST_HELD + 5]


def test_an_answer_is_sent_at_once(monkeypatch):
    sent: list[bytes] = []
    flush = patience.Gathered.flush

    def noted(gathered: Any) -> None:
        sent.extend([b"".join(gathered.held)] if gathered.held else [])
        flush(gathered)

    monkeypatch.setattr(patience.Gathered, "flush", noted)
    with served(100) as (host, port):
        assert urllib.request.urlopen(f"http://{host}:{port}/", timeout=20).read() == b"hello"
    assert len(sent) == 1
    assert sent[0].startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"hello" in sent[0]
