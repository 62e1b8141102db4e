"""The guides for those who come from elsewhere: their figures are what their code prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.printed import differences, ran

GUIDES = Path(__file__).parents[2] / "docs" / "guides"
# Word2vec and doc2vec are trained here: other versions of NumPy and BLAS round otherwise.
TOLERANCE = 0.02


@pytest.mark.parametrize("guide", ["from-sif.md", "from-doc2vec.md", "from-lsa.md"])
def test_a_migration_guide_prints_what_it_says(guide: str, tmp_path: Path) -> None:
    text = (GUIDES / guide).read_text("utf-8")
    blocks = dict(re.findall(r"^```(python|text)\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    printed = ran(blocks["python"], tmp_path)
    assert differences(blocks["text"], printed, TOLERANCE) == []
