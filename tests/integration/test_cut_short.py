"""Files that are cut short in use: an error at the next call, not the end of the process."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import deltavec as dv
from support.served import small_collection

pytestmark = pytest.mark.skipif(os.name == "nt", reason="what is mapped cannot be cut there")

TOLD = "a file that is in use was cut short"


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.fixture
def collection(tmp_path: Path) -> dv.Collection:
    small_collection(tmp_path)
    return dv.open_collection(tmp_path / "reviews.idx")


@pytest.mark.parametrize(
    ("name", "use"),
    [
        ("model.dv/model.safetensors", lambda found: found.model.embed(["a quiet room"])),
        ("model.dv/model.safetensors", lambda found: found.model.explain("quiet", "room")),
        ("vectors-*", lambda found: found.search("quiet room", by="semantic")),
        ("vectors-*", lambda found: found.search("quiet room", by="hybrid")),
        ("words-*", lambda found: found.search("quiet room", by="keyword")),
        ("documents-*", lambda found: found.text("sea")),
    ],
)  # fmt: skip
def test_a_collection(
    collection: dv.Collection,
    tmp_path: Path,
    name: str,
    use: Callable[[dv.Collection], object],
) -> None:
    use(collection)
    (path,) = (tmp_path / "reviews.idx").glob(name)
    cut(path)
    with pytest.raises(dv.DeltavecError, match=TOLD):
        use(collection)


def test_a_model(tmp_path: Path) -> None:
    texts = ["a quiet room", "the quiet sea", "a room by the sea"] * 3
    dv.fit(texts).save(tmp_path / "model.dv")
    model = dv.load(tmp_path / "model.dv")
    cut(tmp_path / "model.dv" / "model.safetensors")
    with pytest.raises(dv.DeltavecError, match=TOLD):
        model.embed(texts)
