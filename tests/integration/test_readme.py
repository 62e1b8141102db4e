"""The README: its Python runs as it stands and prints what it says; its figures are measured."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from support.typed import Demonstration

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


def rows(text: str) -> dict[str, dict[str, str]]:
    """The rows of the table whose first column is the method, each by the heads of its columns."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    begin = next(number for number, line in enumerate(cells) if line[0] == "method")
    heads = cells[begin]
    return {line[0]: dict(zip(heads, line, strict=True)) for line in cells[begin + 2 :]}


def test_the_python_of_the_readme_runs_and_prints_what_it_says(
    demonstration: Demonstration, tmp_path: Path
) -> None:
    shutil.copytree(demonstration.folder / "lee-news", tmp_path / "lee-news")
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    said = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(blocks)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert [ran.stdout] == said


def test_the_story_that_the_readme_finds_is_about_new_south_wales(
    demonstration: Demonstration,
) -> None:
    found = int(re.findall(r"```text\n(\d+)", README)[0])
    stories = (demonstration.folder / "lee-news" / "news.txt").read_text("utf-8").splitlines()
    assert "New South Wales" in stories[found]
    assert "storm" in stories[found]


def test_every_figure_of_the_readme_is_in_the_guide() -> None:
    guide = rows((ROOT / "docs/guides/quality.md").read_text("utf-8").split("<!-- end")[0])
    for method, row in rows(README).items():
        assert row.items() <= guide[method].items(), method


def test_what_the_readme_points_to_is_there_and_it_fits_a_screen() -> None:
    pointed = re.findall(r"\]\(([^)#:]+)\)|src=\"([^\"]+)\"", README)
    assert pointed
    for link in (one or other for one, other in pointed):
        assert (ROOT / link).exists(), link
    assert len(README.splitlines()) <= 60
