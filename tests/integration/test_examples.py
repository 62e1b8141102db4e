"""The examples run as their first lines say, on a small file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.typed import reviews

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of reviews; one review is there twice, and most labels are empty."""
    folder = tmp_path_factory.mktemp("examples")
    texts = reviews()
    texts[-1] = texts[0]
    lines = [
        f'"{text}",{("sea" if row < 36 else "room") if row % 9 == 0 else ""}'
        for row, text in enumerate(texts)
    ]
    (folder / "reviews.csv").write_text("\n".join(["text,label", *lines]) + "\n")
    (folder / "test.csv").write_text(f'text\n"{texts[0]}"\n"Snow in the mountains all week."\n')
    return folder


RUNS = {
    "search_csv.py reviews.csv quiet bay": "quiet",
    "deduplicate.py reviews.csv clean.csv": "71 goes, 0 stays: same words",
    "leakage.py test.csv reviews.csv": "1 of 2 test documents are in reviews.csv",
    "topics.py reviews.csv map.html": "(for example ",
    "classify.py reviews.csv": "room\tThe",
    "rag_langchain.py reviews.csv quiet bay": "The quiet",
}


@pytest.mark.parametrize("call", RUNS)
def test_an_example_runs(call: str, folder: Path) -> None:
    script, *arguments = call.split(" ", 2)
    if script == "rag_langchain.py":
        pytest.importorskip("langchain_core")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        [sys.executable, EXAMPLES / script, *arguments],
        cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert RUNS[call] in done.stdout, done.stdout


def test_every_example_is_run_and_starts_with_how_to_run_it() -> None:
    scripts = {path.name for path in EXAMPLES.glob("*.py")} - {"spark_job.py"}
    assert scripts == {call.split()[0] for call in RUNS}
    for name in scripts:
        assert f"python {name}" in (EXAMPLES / name).read_text().split('"""')[1]
