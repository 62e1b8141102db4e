"""The pages for users are easy to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.scripts import load_script

script = load_script("tools/readability.py")


@pytest.mark.parametrize("path", script.pages(), ids=lambda path: path.name)
def test_a_page_has_short_sentences_and_paragraphs(path: Path) -> None:
    found = script.readability(path.read_text("utf-8"))
    assert found.sentence < script.MEAN_SENTENCE
    assert found.longest <= script.LONGEST_PARAGRAPH, found.paragraph


def test_words_and_sentences_are_counted_without_code_and_tables() -> None:
    prose = "One two three. Four five\nsix.\n\n- `code()` and text\n\n"
    page = f"# Title\n\n{prose}| a | b |\n\n```\nx\n```\n"
    assert script.readability(page) == (3.0, 6, "One two three. Four five six.")
