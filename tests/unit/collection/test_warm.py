"""Kernels are compiled before they are needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltavec.collection.warm import (
    compile_all,
    compile_searches,
    compile_updates,
    example_texts,
)
from support.served import small_collection


def test_the_example_has_scripts_with_and_without_spaces() -> None:
    texts = [*example_texts()]
    assert len({*texts}) == len(texts)
    assert any("漢" in text for text in texts)


def test_everything_is_compiled_for_words_and_for_ngrams() -> None:
    stages: list[str] = []
    compile_all(stages.append)
    assert stages == ["compiling kernels for words", "compiling kernels for words+grams"]


def test_a_small_collection_is_searched_in_every_way(tmp_path: Path) -> None:
    compile_searches(small_collection(tmp_path))


@pytest.mark.parametrize("recipe", ["spectral", "idf-delta-pca"])
def test_updates_are_tried_apart_from_the_collection(tmp_path: Path, recipe: str) -> None:
    collection = small_collection(tmp_path, recipe)
    before = sorted(path.name for path in collection.path.iterdir())
    compile_updates(collection.model)
    assert sorted(path.name for path in collection.path.iterdir()) == before
