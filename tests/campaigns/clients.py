"""Clients that mean harm: slow, silent, half gone, without measure, or with another's name.

Each does its worst and leaves; some hold their connections as long as the server lets them. The
one who attacks expects nothing, but where an answer comes it must be a right one.
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from random import Random

MANY = 1000  # connections
LONG = 100_000  # characters, the longest text that is taken


class Attacker:
    """One who attacks a server, with the connections that it holds."""

    def __init__(self, host: str, port: int, seed: int) -> None:
        self.address = host, port
        self.rng = Random(seed)
        self.held: list[socket.socket] = []
        self.attacks = 0
        self.coming: list[str] = []
        self.wrong: list[str] = []

    def attack(self) -> None:
        """Do one of the attacks, each once before any comes again."""
        if not self.coming:
            self.coming = self.rng.sample(list(ATTACKS), len(ATTACKS))
        name = self.coming.pop()
        with suppress(OSError):  # it was cut off, as it should be
            found = ATTACKS[name](self)
            if found:
                self.wrong.append(f"{name}: {found}")
        self.attacks += 1

    def let_go(self) -> None:
        """Close all connections that are held."""
        for one in self.held:
            one.close()
        self.held.clear()

    @contextmanager
    def connection(self) -> Iterator[socket.socket]:
        """A connection, closed at the end."""
        with socket.create_connection(self.address, timeout=60) as one:
            yield one

    def hold(self, sent: bytes) -> None:
        """Say something, or nothing, and stay; only so many connections are held."""
        one = socket.create_connection(self.address, timeout=60)
        self.held.append(one)
        one.sendall(sent)
        while len(self.held) > MANY:
            self.held.pop(0).close()

    def said(self, request: bytes) -> bytes:
        """The head of the answer to a request, and perhaps more."""
        with self.connection() as one:
            one.sendall(request)
            return one.recv(1 << 16)


def post(path: str, body: bytes, *headers: str) -> bytes:
    """A request with a body."""
    length = (
        [] if any("chunked" in header for header in headers) else [f"Content-Length: {len(body)}"]
    )
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    return "\r\n".join([*lines, *headers, *length, "", ""]).encode() + body


def expected(answer: bytes, *statuses: int) -> str:
    """What is wrong with an answer that must have one of these states; nothing if none came.

    A server that is busy, or on a machine that does much else, may say so.
    """
    if not answer:
        return ""
    status = int(answer.split(b" ", 2)[1])
    if b"Traceback" in answer or status not in (*statuses, 503, 504):
        return f"{status}: {answer[:200]!r}"
    return ""


def silent(by: Attacker) -> None:
    """Connections on which nothing is said."""
    for _ in range(by.rng.choice([1, 10, 100])):
        by.hold(b"")


def thousand(by: Attacker) -> None:
    """As many of these as the server takes."""
    for _ in range(MANY):
        by.hold(b"")


def slow(by: Attacker) -> None:
    """Headers that never end."""
    head = b"GET /search?query=sea HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 3000
    by.hold(head[: by.rng.randrange(1, len(head))])


def slow_body(by: Attacker) -> None:
    """A body that is announced and never comes."""
    by.hold(post("/search", b'{"query": "sea"}')[: -by.rng.randrange(1, 16)])


def half_open(by: Attacker) -> None:
    """A request whose sender closes one way, or both at once, and reads nothing."""
    with by.connection() as one:
        one.sendall(b"GET /map HTTP/1.1\r\nHost: localhost\r\n\r\n")
        if by.rng.random() < 0.5:
            one.shutdown(socket.SHUT_WR)
        else:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def chunked(by: Attacker) -> str:
    """Chunks of wrong sizes, with much beside them, or without an end."""
    endless = [b"ffffffffffffffff\r\n{}\r\n0\r\n\r\n", b"1\r\n{\r\n" * 2000]
    by.hold(post("/search", by.rng.choice(endless), "Transfer-Encoding: chunked"))
    body = by.rng.choice(
        [
            b"-5\r\n{}\r\n0\r\n\r\n",
            b"2;" + b"x" * 20_000 + b"\r\n{}\r\n0\r\n\r\n",
            b"2\r\n{}\r\n0\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        ]
    )
    answer = by.said(post("/search", body, "Transfer-Encoding: chunked"))
    return expected(answer, 400, 408, 413, 422)


def deep(by: Attacker) -> str:
    """JSON as deep as the body may be long."""
    opening = by.rng.choice([b"[", b'{"query":', b'{"a":['])
    depth = by.rng.choice([1000, 100_000, 500_000])
    path = by.rng.choice(["/search", "/explain", "/v1/embeddings"])
    return expected(by.said(post(path, b'{"query": ' + opening * depth)), 400, 413, 422)


def large(by: Attacker) -> str:
    """A body that is announced to be larger than all memory."""
    request = b"POST /search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999\r\n\r\n"
    return expected(by.said(request), 400, 413)


def long_head(by: Attacker) -> str:
    """An address or a header without measure."""
    parts = [b"GET /", b"a" * 1_000_000, b" HTTP/1.1\r\nHost: localhost\r\n\r\n"]
    if by.rng.random() < 0.5:
        parts = [b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", b"a" * 1_000_000, b"\r\n\r\n"]
    return expected(by.said(b"".join(parts)), 400, 404, 413, 414, 431)


def garbage(by: Attacker) -> str:
    """What is not HTTP at all."""
    some = by.rng.choice(
        [by.rng.randbytes(300), b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01"]
    )
    with by.connection() as one:
        one.sendall(some + b"\r\n\r\n")
        one.shutdown(socket.SHUT_WR)
        answer = one.recv(1 << 16)
    return "a traceback" if b"Traceback" in answer else ""


def other_host(by: Attacker) -> str:
    """The name of somebody else, as a page has it that lets its name point here."""
    host = by.rng.choice(
        ["evil.example", "[::1].evil.example", "localhost.evil.example", "", "a b"]
    )
    answer = by.said(f"GET /search?query=sea HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    return expected(answer, 400, 421)


def other_origin(by: Attacker) -> str:
    """A page of another origin: it may ask, and must not be let read."""
    asking = by.rng.choice(["GET", "OPTIONS"])
    answer = by.said(
        f"{asking} /search?query=sea HTTP/1.1\r\nHost: localhost\r\nOrigin: https://evil.example\r\n"
        "Access-Control-Request-Method: GET\r\n\r\n".encode()
    )
    if b"access-control-allow" in answer.lower():
        return "another origin may read the answer"
    return expected(answer, 200, 405)


def long_texts(by: Attacker) -> str:
    """Two long texts of different words to be compared, and perhaps nobody who waits for it."""
    words = [f"w{by.rng.randrange(10**6)} sea room quiet" for _ in range(LONG // 25)]
    text = " ".join(words)[:LONG]
    request = post("/explain", json.dumps({"text_a": text, "text_b": text[::-1]}).encode())
    if by.rng.random() < 0.7:
        by.hold(request)
        by.held.pop().close()
        return ""
    return expected(by.said(request), 200, 422, 504)


ATTACKS: dict[str, Callable[[Attacker], str | None]] = {
    attack.__name__: attack
    for attack in (
        silent, thousand, slow, slow_body, half_open, chunked, deep, large, long_head, garbage,
        other_host, other_origin, long_texts,
    )
}  # fmt: skip
