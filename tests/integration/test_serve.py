"""The server as its clients meet it: on a socket, by the OpenAI client, started and stopped."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import openai
import pytest

import deltavec as dv
from deltavec.cli.commands.serve import announce
from deltavec.server.app import create_app
from deltavec.server.limits import Limits
from support.processes import Process
from support.served import on_a_socket
from support.typed import Deltavec, command

TOKEN = "a-long-secret"


@pytest.fixture(scope="module")
def collection(lee: Path) -> dv.Collection:
    return dv.open_collection(lee)


@pytest.fixture(scope="module")
def address(collection: dv.Collection) -> Iterator[str]:
    limits = Limits(body_bytes=200_000, batch=100)
    with on_a_socket(create_app(collection, token=TOKEN, limits=limits)) as running:
        yield running


def client(address: str, token: str = TOKEN) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{address}/v1", api_key=token, max_retries=0)


def test_the_openai_client_gets_the_model_s_vectors(
    address: str, collection: dv.Collection
) -> None:
    texts = ["Storms in Sydney", "a test match", "Grüße, 世界"]
    with client(address) as asking:
        for options in ({}, {"encoding_format": "float"}, {"encoding_format": "base64"}):
            answer = asking.embeddings.create(model="deltavec", input=texts, **options)  # type: ignore[call-overload]
            vectors = np.array([decoded(entry.embedding) for entry in answer.data], np.float32)
            assert (vectors == collection.model.embed(texts)).all()
        assert answer.usage.prompt_tokens == 10  # 世, 界 and 世界
        assert answer.model in [model.id for model in asking.models.list()]


def decoded(embedding: Any) -> Any:
    """Numbers; the client leaves what it was told to get as base64 as it is."""
    import base64

    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding), "<f4")
    return embedding


def test_the_openai_client_is_told_what_is_wrong(address: str) -> None:
    with client(address) as asking:
        ask = asking.embeddings.create
        with pytest.raises(openai.UnprocessableEntityError, match="cannot be cut"):
            ask(model="deltavec", input="a", dimensions=7)
        with pytest.raises(openai.UnprocessableEntityError, match="token numbers"):
            ask(model="deltavec", input=[[1, 2]])
        with pytest.raises(openai.UnprocessableEntityError, match="at most 100 texts"):
            ask(model="deltavec", input=["a"] * 101)
        with pytest.raises(openai.NotFoundError, match="expected 'deltavec'"):
            ask(model="text-embedding-3-small", input="a")
        with pytest.raises(openai.APIStatusError, match="larger than 200,000 bytes"):
            ask(model="deltavec", input=["a" * 90_000] * 3)
    with client(address, "wrong") as asking, pytest.raises(openai.AuthenticationError):
        asking.embeddings.create(model="deltavec", input="a")


def answered(address: str, request: bytes) -> tuple[int, bytes] | None:
    """The same; None while nobody takes the connection."""
    try:
        return raw(address, request)
    except OSError:
        return None


def raw(address: str, request: bytes) -> tuple[int, bytes]:
    """Status and body of the answer to these bytes."""
    parts = urlsplit(address)
    assert parts.hostname is not None
    with socket.create_connection((parts.hostname, parts.port or 80), timeout=30) as connection:
        connection.sendall(request)
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        return answer.status, answer.read()


@pytest.mark.parametrize(
    "path",
    [
        "/../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/page/../app.py",
        "/page/%2e%2e%2fapp.py",
        "/page/..%5capp.py",
        "/page//etc/passwd",
        "/documents/../../etc/passwd",
        "/documents/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/documents/%00",
        "/documents/%ff",
    ],
)
def test_a_path_trick_finds_nothing(address: str, path: str) -> None:
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    status, body = raw(address, head.encode())
    assert status == 404
    assert json.loads(body)["error"]["type"] == "not_found"


def test_a_body_that_comes_in_chunks_is_measured_as_it_comes(address: str) -> None:
    head = (
        "POST /search HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
        f"Content-Type: application/json\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    )
    chunk = b"%x\r\n%s\r\n" % (100_000, b" " * 100_000)
    status, body = raw(address, head.encode() + 4 * chunk + b"0\r\n\r\n")
    assert status == 413
    assert "200,000 bytes" in json.loads(body)["error"]["message"]


def test_another_host_s_name_is_refused(address: str) -> None:
    status, body = raw(address, b"GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n")
    assert status == 421
    assert json.loads(body)["error"]["type"] == "wrong_host"


@pytest.mark.parametrize("request_bytes", [b"\x16\x03\x01 not http\r\n\r\n", b"GET\r\n\r\n"])
def test_what_is_not_http_gets_no_traceback(address: str, request_bytes: bytes) -> None:
    status, body = raw(address, request_bytes)
    assert status == 400
    assert b"Traceback" not in body


def started(*arguments: object, **environment: str) -> Process[str]:
    return Process(
        command("serve", *arguments, "--port", 0, "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


def wait_for(condition: Callable[[], object]) -> None:
    """Return as soon as something holds in another process; fail if it does not within a minute."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def announced(running: Process[str]) -> dict[str, Any]:
    """What the command says when it is ready."""
    assert running.stdout is not None
    lines = ""
    for line in running.stdout:
        lines += line
        if line.startswith("}"):
            break
    found: dict[str, Any] = json.loads(lines)
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize(
    ("number", "host"), [(signal.SIGINT, "127.0.0.1"), (signal.SIGTERM, "0.0.0.0")]
)
def test_the_command_serves_until_it_is_told_to_stop_and_warns_if_others_can_come_in(
    number: signal.Signals, host: str, lee: Path
) -> None:
    with started(lee, "--host", host) as running:
        said = announced(running)
        assert said["documents"] == 350
        status, body = raw(said["address"], b"GET /info HTTP/1.1\r\nHost: other.example\r\n\r\n")
        assert status == (421 if host == "127.0.0.1" else 200)
        assert status != 200 or json.loads(body)["name"] == "lee"
        running.send_signal(number)
        stdout, stderr = running.communicate(timeout=60)
    assert (running.returncode, stdout) == (0, "")
    logged = [json.loads(line) for line in stderr.splitlines() if line.startswith("{")]
    assert logged[-1]["status"] == status
    assert {one["status"] for one in logged[:-1]} <= {200, 503}  # the command asks /ready
    assert len(stderr.splitlines()) == len(logged) + (0 if host == "127.0.0.1" else 1)
    assert ("others can reach this server" in stderr) is (host == "0.0.0.0")


def counted(address: str) -> dict[str, float]:
    """What the server has counted."""
    head = f"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    status, body = raw(address, head.encode())
    assert status == 200
    lines = [line for line in body.decode().splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def children(process: int) -> set[int]:
    """The processes that serve beside each other, on Linux."""
    listed = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    lines = {int(one): Path(f"/proc/{one}/cmdline").read_bytes() for one in listed}
    return {one for one, line in lines.items() if b"spawn_main" in line}


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the processes themselves")
def test_several_workers_answer_as_one_are_replaced_and_leave_nothing(lee: Path) -> None:
    arguments = (
        "--workers",
        2,
        "--log",
        "none",
        "--map",
        "pca",
    )  # one drawn meanwhile changes /info
    with started(lee, *arguments, DELTAVEC_TOKEN=TOKEN) as running:
        address = announced(running)["address"]
        request = f"GET /info HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
        answers = {raw(address, request.encode()) for _ in range(20)}
        assert len(answers) == 1
        name = 'deltavec_requests_total{address="/info",status="200"}'
        wait_for(lambda: counted(address).get(name) == 20)  # counted after they are sent
        before = children(running.pid)
        assert len(before) == 2
        memory = {f'deltavec_resident_memory_bytes{{process="{one}"}}' for one in before}
        wait_for(lambda: memory <= counted(address).keys())
        os.kill(min(before), signal.SIGKILL)
        wait_for(lambda: len(children(running.pid) - before) == 1)  # another took its place
        assert len(children(running.pid) & before) == 1
        wait_for(lambda: answered(address, request.encode()) in answers)
        running.send_signal(signal.SIGTERM)
        stdout, stderr = running.communicate(timeout=60)
    assert (running.returncode, stdout, stderr) == (0, "", "")


def test_options_come_from_the_environment_and_the_client_from_a_trusted_proxy(lee: Path) -> None:
    settings = {"DELTAVEC_HOST": "127.0.0.2", "DELTAVEC_TRUSTED_PROXIES": "127.0.0.0/8"}
    with started(lee, **settings) as running:
        address = announced(running)["address"]
        assert urlsplit(address).hostname == "127.0.0.2"
        request = b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n"
        assert raw(address, request)[0] == 200
        running.send_signal(signal.SIGTERM)
        _, stderr = running.communicate(timeout=60)
    assert json.loads(stderr.splitlines()[-1])["client"] == "192.0.2.7"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_one_server_searches_what_others_have(lee: Path, deltavec: Deltavec) -> None:
    with (
        on_a_socket(create_app(dv.open_collection(lee))) as one,
        started(one, one, "--log", "none") as running,  # each document twice
    ):
        said = announced(running)
        assert said["shards"] == [one, one]
        query = b"GET /search?query=fire HTTP/1.1\r\nHost: localhost\r\n\r\n"
        status, body = raw(said["address"], query)
        ids = [result["id"] for result in json.loads(body)["results"]]
        assert (status, len(ids), len(set(ids))) == (200, 10, 5)
        running.send_signal(signal.SIGTERM)
        assert running.communicate(timeout=60) == ("", "")
    assert "addresses of several servers, got 2 folders" in deltavec("serve", lee, lee).error
    assert "an address such as" in deltavec("serve", "http://127.0.0.1:9", "ftp://here").error


@pytest.mark.skipif(sys.platform != "linux", reason="looks at the processes themselves")
def test_workers_end_when_the_command_is_killed(lee: Path) -> None:
    with started(lee, "--workers", 2) as running:
        announced(running)
        assert len(children(running.pid)) == 2
        running.kill()
        running.communicate(timeout=60)  # ends when none of them holds the other end any more


def test_with_a_token_there_is_no_warning(capsys: pytest.CaptureFixture[str]) -> None:
    announce("lee.idx (1 document)", {}, ("0.0.0.0", 8000), TOKEN, as_json=False)
    said = capsys.readouterr()
    first = "Serving lee.idx (1 document) at http://localhost:8000/"
    assert said.out.splitlines() == [first, "Press Ctrl-C to stop."]
    assert said.err == ""


def test_a_port_that_is_taken_is_one_line(lee: Path, deltavec: Deltavec) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert "already in use" in deltavec("serve", lee, "--port", port).error


def test_wrong_input_is_one_line(lee: Path, tmp_path: Path, deltavec: Deltavec) -> None:
    assert "found nothing there" in deltavec("serve", tmp_path / "no.idx", "--port", 0).error
    assert "--host" in deltavec("serve", lee, "--host", "no.such.host.invalid").error
    assert "token" in deltavec("serve", lee, "--port", 0, "--token", "ä").error
    assert deltavec("serve", lee, "--port", 70_000).code == 2
    assert deltavec("serve", lee, "--map", "tsne").code == 2
    assert "origin" in deltavec("serve", lee, "--port", 0, "--cors", "example.org").error
    assert "/reviews" in deltavec("serve", lee, "--port", 0, "--root-path", "reviews").error


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_silent_slow_and_endless_clients_are_cut_off_and_shut_nobody_out(lee: Path) -> None:
    info = b"GET /info HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with started(lee, "--log", "none") as running, ExitStack() as stack:
        address = announced(running)["address"]
        place = urlsplit(address).hostname, urlsplit(address).port
        held = [
            stack.enter_context(socket.create_connection(place, timeout=60)) for _ in range(1000)
        ]
        held[0].sendall(b"GET /in")
        held[1].sendall(info + b"GET /in")
        held[2].sendall(b"GET / HTTP/1.1\r\nHost: ")
        with suppress(ConnectionError):
            for _ in range(1000):  # until it is refused: a head of ten megabytes
                held[2].sendall(b"x" * 10_000)
        assert raw(address, info)[0] == 200
        for one in held:
            with suppress(ConnectionError):
                while one.recv(10_000):  # waits until the server closes it
                    pass
        assert raw(address, info)[0] == 200
        running.send_signal(signal.SIGTERM)
        assert running.communicate(timeout=60) == ("", "")
    assert running.returncode == 0
