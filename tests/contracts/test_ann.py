"""The search guide's snippets for faiss and hnswlib find what an exact search finds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import deltavec as dv

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "vector-index.md"
SNIPPETS = re.findall(r"^```py\n(.*?)^```", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


class Model:
    """A model that embeds any text as the first row."""

    def __init__(self, rows: np.ndarray[Any, Any]) -> None:
        self.rows = rows

    def embed(self, texts: list[str]) -> np.ndarray[Any, Any]:
        """The first rows."""
        return self.rows[: len(texts)]


@pytest.mark.parametrize(
    ("library", "snippet"), [*zip(("faiss", "hnswlib"), SNIPPETS, strict=True)]
)
def test_the_snippets_of_the_guide_find_the_nearest_row(library: str, snippet: str) -> None:
    pytest.importorskip(library, reason="make test-peers has it")
    U = np.random.default_rng(0).standard_normal((200_000, 16)).astype(np.float32)
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    names: dict[str, Any] = {"U": U, "model": Model(U)}
    exec(snippet, names)
    exact = dv.Index(U).search(U[:1], 10).ids[0]
    assert names["rows"][0][0] == exact[0] == 0
    assert len(set(names["rows"][0].tolist()) & set(exact.tolist())) >= 5
