"""A folder with a small corpus, word vectors and a model, and ways to type commands in it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import deltavec as dv
from deltavec.cli.application import app
from deltavec.server.app import create_app
from deltavec.server.map_view import MapView
from support.browser import Browser, running_browser
from support.explorer_page import READY
from support.served import lee_collection, on_a_socket
from support.typed import Deltavec, Demonstration, Outcome, command, reviews


@pytest.fixture
def deltavec(monkeypatch: pytest.MonkeyPatch) -> Deltavec:
    """Types a command, in this process; whatever it does, there is no traceback."""
    monkeypatch.delenv("DELTAVEC_TRACEBACK", raising=False)

    def run(*arguments: object) -> Outcome:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        assert "Traceback" not in result.output
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def process() -> Deltavec:
    """Types a command, in a process of its own."""

    def run(*arguments: object, stdin: bytes = b"", **environment: str) -> Outcome:
        done = subprocess.run(
            command(*arguments),
            input=stdin,
            capture_output=True,
            env={**os.environ, **environment},
            check=False,
        )
        stdout, stderr = done.stdout.decode(), done.stderr.decode()
        assert "Traceback" not in stderr
        return Outcome(done.returncode, stdout, stderr)

    return run


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with reviews.csv, reviews.vec and the model reviews.dv."""
    folder = tmp_path_factory.mktemp("small")
    rows = [f'{number},"{text}"\n' for number, text in enumerate(reviews())]
    (folder / "reviews.csv").write_text("id,text\n" + "".join(rows), encoding="utf-8")
    typed = CliRunner().invoke
    corpus = str(folder / "reviews.csv")
    vectors = str(folder / "reviews.vec")
    model = str(folder / "reviews.dv")
    for arguments in (
        ["vectors", "train", corpus, "--dimensions", "8", "-o", vectors],
        ["fit", corpus, "--vectors", vectors, "-o", model],
    ):
        result = typed(app, arguments)
        assert result.exit_code == 0, result.output
    return folder


@pytest.fixture(scope="session")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Demonstration:
    """The demo, run once: what it printed, and the folder it kept its files in."""
    folder = tmp_path_factory.mktemp("demo")
    arguments = command("demo", "-o", "lee-news")
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, check=True)
    return Demonstration(folder, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def lee(demonstration: Demonstration, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's 350 stories as a collection, with columns of several kinds."""
    folder = demonstration.folder / "lee-news"
    own = tmp_path_factory.mktemp("lee") / "lee.idx"
    return lee_collection(folder / "news.txt", folder / "news.dv", own)


@pytest.fixture(scope="module")
def collection(lee: Path) -> dv.Collection:
    return dv.open_collection(lee)


@pytest.fixture(scope="module")
def map_view(collection: dv.Collection) -> MapView:
    return MapView.of(collection)


@pytest.fixture(scope="module")
def address(collection: dv.Collection, map_view: MapView) -> Iterator[str]:
    with on_a_socket(create_app(collection, map_view=map_view, name="lee")) as running:
        yield running


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with running_browser(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def browser(window: Browser, address: str) -> Iterator[Browser]:
    """The explorer, opened; it complains of nothing and asks nobody else."""
    window.sized(1280, 800)
    window.prefer("light")
    window.visit("about:blank")
    window.visit(address)
    window.until(READY)
    window.settle()
    yield window
    window.evaluate("localStorage.clear(); sessionStorage.clear()")
    assert window.complaints == []
    assert all(one.startswith(f"{address}/") for one in window.addresses)
