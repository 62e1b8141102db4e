"""A model is what semhash calls an encoder."""

import pytest

from support.adapted import TEXTS, small_model

semhash = pytest.importorskip("semhash", reason="make test-peers has it")


def test_semhash_finds_the_planted_duplicate() -> None:
    planted = "a QUIET room, with a view of the sea!"
    found = semhash.SemHash.from_records([*TEXTS, planted], model=small_model())
    kept = found.self_deduplicate(threshold=0.99)
    assert sorted(kept.selected) == sorted(TEXTS)
