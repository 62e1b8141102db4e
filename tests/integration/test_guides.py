"""The guides: what they tell to type works, in the order they tell it."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.typed import Deltavec, Demonstration

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "guide",
    ["getting-started.md", "command-line.md", "collections.md", "search.md", "elsewhere.md"],
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
    blocks = BLOCK.findall((GUIDES / guide).read_text("utf-8"))
    assert blocks
    for language, block in blocks:
        if language == "python":
            subprocess.run([sys.executable, "-c", block], stdout=subprocess.DEVNULL, check=True)
            continue
        for line in block.splitlines():
            if line.startswith("deltavec demo"):  # has been run: it is the folder lee-news
                continue
            if "|" in line:
                typed = f'deltavec() {{ "{sys.executable}" -m deltavec "$@"; }}; {line}'
                subprocess.run(["bash", "-c", typed], stdout=subprocess.DEVNULL, check=True)
                continue
            done = deltavec(*shlex.split(line)[1:])
            assert done.code == 0, f"{line}: {done.stderr}"
