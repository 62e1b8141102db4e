"""One command from a file to an answer: `deltavec explore`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from support.processes import Process
from support.typed import command, reviews

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "stays.csv"
    lines = [f'{number % 5},"{text}"' for number, text in enumerate(reviews())]
    path.write_text("\n".join(["rating,review", *lines]) + "\n")
    return path


@contextmanager
def exploring(*arguments: object, cache: Path) -> Iterator[dict[str, Any]]:
    """What the command prints once it serves; it is stopped at the end."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    with Process(
        command("explore", *arguments, "--no-open", "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as running:
        assert running.stdout is not None
        lines = ""
        for line in running.stdout:
            lines += line
            if line.startswith("}"):
                break
        assert lines, running.stderr.read() if running.stderr else ""
        yield json.loads(lines)
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
    assert running.returncode == 0


def answered(address: str, query: str) -> dict[str, Any]:
    with urllib.request.urlopen(f"{address}search?query={query}&k=1", timeout=60) as response:
        found: dict[str, Any] = json.load(response)
        return found


def test_a_file_is_searched_with_one_command_and_kept_until_it_changes(
    corpus: Path, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    with exploring(corpus, cache=cache) as served:
        folder = Path(served["collection"])
        assert served["documents"] == len(reviews())
        assert cache in folder.parents
        hit = answered(served["address"], "quiet")["results"][0]
        assert "quiet" in hit["text"]
        assert set(hit["columns"]) == {"rating"}
        with urllib.request.urlopen(f"{served['address']}info", timeout=60) as response:
            assert json.load(response)["name"] == "stays"
    manifest = folder / "collection.json"
    before = manifest.read_bytes()
    with exploring(corpus, cache=cache) as served:
        assert Path(served["collection"]) == folder
    assert manifest.read_bytes() == before
    with corpus.open("a") as file:
        file.write('5,"a quiet bay with an island"\n')
    with exploring(corpus, cache=cache) as served:
        assert served["documents"] == len(reviews()) + 1
        assert Path(served["collection"]) == folder


def test_the_collection_can_be_kept_and_a_collection_is_served_as_it_is(
    corpus: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own.idx"
    with exploring(corpus, "-o", own, cache=tmp_path / "cache") as served:
        assert served["collection"] == str(own)
    with exploring(own, cache=tmp_path / "cache") as served:
        assert served["documents"] == len(reviews())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.csv",), "no such file"),
        (("-",), "standard input"),
        (("stays.csv", "--keep", "stars"), "no column 'stars'"),
    ],
)
def test_what_cannot_be_explored_is_said_in_a_line(
    arguments: tuple[str, ...], said: str, corpus: Path, tmp_path: Path
) -> None:
    done = subprocess.run(
        command("explore", *arguments),
        cwd=corpus.parent,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) <= 2
