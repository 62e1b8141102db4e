"""The guides: what they tell to type works, in the order they tell it."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.printed import differences
from support.typed import Deltavec, Demonstration

DOCS = Path(__file__).parents[2] / "docs"
# A block of code, and what it prints if that stands right behind it.
BLOCK = re.compile(
    r"^ *```(sh|python)\n(.*?)^ *```$(?:\n\n```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL
)
TOLERANCE = 0.011  # a last digit of two that is rounded otherwise


def run_python(program: str) -> str:
    """What a program prints."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "guide",
    [
        "guides/engines.md",
        "guides/from-bertopic.md",
        "guides/from-bm25.md",
        "guides/from-sentence-transformers.md",
        "guides/integrations.md",
        "guides/models.md",
        "guides/quickstart.md",
        "guides/scikit-learn.md",
        "guides/vector-index.md",
        "index.md",
        "tutorials/classification.md",
        "tutorials/databases.md",
        "tutorials/hybrid-search.md guides/filters.md guides/updates.md",
        "tutorials/hybrid-search.md tutorials/topics.md tutorials/rag-and-agents.md",
        "tutorials/explain-similarity.md",
        "tutorials/near-duplicates.md",
    ],
)
def test_a_guide_s_commands_and_code_work(
    guide: str,
    small: Path,
    demonstration: Demonstration,
    deltavec: Deltavec,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shutil.copy(small / "reviews.csv", tmp_path)
    shutil.copytree(demonstration.folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    text = "\n".join((DOCS / page).read_text("utf-8") for page in guide.split())
    blocks = BLOCK.findall(text)
    assert blocks
    program, printed = "", ""
    for language, block, said in blocks:
        if language == "python":
            if "import deltavec" in block:
                program, printed = "", ""
            program += block
            before, printed = printed, run_python(program)
            assert not said or differences(said, printed.removeprefix(before), TOLERANCE) == []
            continue
        for line in block.splitlines():
            if line.startswith("deltavec demo"):  # has been run: it is the folder lee-news
                continue
            if "|" in line:
                typed = f'deltavec() {{ "{sys.executable}" -m deltavec "$@"; }}; {line}'
                subprocess.run(["bash", "-c", typed], stdout=subprocess.DEVNULL, check=True)
                continue
            done = deltavec(*shlex.split(line, comments=True)[1:])
            assert done.code == 0, f"{line}: {done.stderr}"
