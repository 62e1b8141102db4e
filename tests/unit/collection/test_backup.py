"""A backup is the collection at one moment; a refit has a new model and all documents."""

from __future__ import annotations

import os
import threading
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.collection.manifest import backup

WORDS = ["sea", "room", "quiet", "bed", "storm", "wind", "lamp", "view"]
TEXTS = [f"{a} {b} by the {c}" for a in WORDS for b in WORDS[:4] for c in WORDS[4:]]
MODEL = dv.fit(TEXTS)


def table(texts: list[str], first: int = 0) -> pa.Table:
    return pa.table({"text": texts, "name": [f"d{first + n}" for n in range(len(texts))]})


@pytest.fixture
def collection(tmp_path: Path) -> dv.Collection:
    return dv.build_collection(MODEL, table(TEXTS), tmp_path / "c.idx", id_column="name")


def test_a_backup_stays_as_it_is(collection: dv.Collection, tmp_path: Path) -> None:
    changed = collection.add(table(["a quiet zeppelin"], 500)).remove(["d3"])
    collection.backup(tmp_path / "b.idx")
    changed.remove(["d4"]).compact()
    copy = dv.open_collection(tmp_path / "b.idx")
    assert copy.ids.equals(changed.ids)
    assert copy.search("zeppelin storm", k=5) == changed.search("zeppelin storm", k=5)
    assert len(copy.remove(["d7"])) == len(changed) - 1  # it is a collection of its own
    assert dv.open_collection(collection.path).find_row("d7") is not None
    collection.backup(tmp_path / "b.idx")  # replaced
    assert dv.open_collection(tmp_path / "b.idx").find_row("d4") is None


def test_where_there_are_no_links_files_are_copied(
    collection: dv.Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    assert not backup(collection.path, tmp_path / "b.idx")
    monkeypatch.undo()
    assert len(dv.open_collection(tmp_path / "b.idx")) == len(TEXTS)


def test_a_backup_under_a_writer_is_one_of_its_states(
    collection: dv.Collection, tmp_path: Path
) -> None:
    stop, states = threading.Event(), [collection.ids.to_pylist()]

    def write() -> None:
        live, number = collection, 0
        while not stop.is_set():
            number += 1
            states.append([*states[-1][1:], f"d{1000 + number}"])
            live = live.add(table(["wind"], 1000 + number)).remove([states[-2][0]])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(8):
            backup(collection.path, tmp_path / f"{number}.idx")
    finally:
        stop.set()
        writer.join()
    whole = {tuple(state) for state in states}
    added = {(*before, after[-1]) for before, after in pairwise(states)}
    for number in range(8):
        copy = dv.open_collection(tmp_path / f"{number}.idx")
        assert tuple(copy.ids.to_pylist()) in whole | added


def test_a_backup_onto_itself_or_onto_something_else_is_refused(
    collection: dv.Collection, tmp_path: Path
) -> None:
    with pytest.raises(dv.InputError, match="another folder"):
        collection.backup(collection.path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(dv.InputError, match=r"notes\.txt"):
        collection.backup(tmp_path / "mine")
    with pytest.raises(dv.InputError, match="nothing there"):
        backup(tmp_path / "nope", tmp_path / "b.idx")


def test_a_refit_learns_the_words_that_came_and_keeps_all_documents(
    collection: dv.Collection,
) -> None:
    grown = collection.add(table(["the zeppelin and the storm"] * 40, 700)).remove(["d1"])
    assert "zeppelin" not in grown.model.vocabulary
    after = grown.refit()
    assert "zeppelin" in after.model.vocabulary
    assert after.ids.equals(grown.ids)
    assert after.column("text").to_pylist() == grown.column("text").to_pylist()
    assert after.info()["documents_added"] == 0
    assert os.listdir(after.path.parent) == [after.path.name]  # noqa: PTH208


def test_what_is_written_while_a_model_is_fitted_is_kept(collection: dv.Collection) -> None:
    def write(stage: str) -> None:
        if stage == "fitting":
            collection.add(table(["a late storm"], 900))

    assert collection.refit(on_stage=write).text("d900") == "a late storm"


def test_a_refit_that_would_lose_something_is_refused(tmp_path: Path) -> None:
    vectors = dv.WordVectors(["sea", "room"], [[1, 0], [0, 1]])
    given = dv.build_collection(dv.fit(TEXTS, vectors, "idf-sum"), TEXTS, tmp_path / "v.idx")
    with pytest.raises(dv.InputError, match="made with word vectors"):
        given.refit()
    numbered = dv.build_collection(MODEL, TEXTS, tmp_path / "n.idx").remove(["3"])
    with pytest.raises(dv.InputError, match="numbered, some were removed"):
        numbered.refit()
