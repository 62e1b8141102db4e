"""The notebooks of the documentation run, and print what they say that they printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.printed import differences
from support.scripts import load_script

notebooks = load_script("tools/notebooks.py")
NOTEBOOKS = notebooks.NOTEBOOKS

TOLERANCE = 0.011  # a last digit of two that is rounded otherwise


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_prints_what_it_says(path: Path) -> None:
    notebook = notebooks.read(path)
    said = [read_by_people(notebooks.kept(cell)) for cell in notebooks.code_cells(notebook)]
    now = [read_by_people(text) for text in notebooks.printed(notebook)]
    assert len(said) == len(now) > 3
    assert all(said)
    found = [differences(*both, TOLERANCE) for both in zip(said, now, strict=True)]
    assert found == [[]] * len(said)


def read_by_people(text: str) -> str:
    """The text without its markup, in which every number stands with all its digits."""
    return re.sub(r"<[^>]+>", " ", text)


def test_there_are_three_notebooks_and_the_site_has_them() -> None:
    names = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    assert names == ["clean-and-cluster", "find-and-explain", "reproduce-the-paper"]
    home = (NOTEBOOKS.parent / "index.md").read_text("utf-8")
    assert all(home.count(f"notebooks/{name}") == 2 for name in names)
