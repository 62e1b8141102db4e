"""Documents come into a collection, are replaced and leave; what is left is as if built so."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import deltavec as dv
from deltavec.collection import updates
from deltavec.collection.open import refresh
from deltavec.core.statistics import TextCounts

VECTORS = dv.WordVectors(["sea", "room", "quiet"], [[1, 0], [0, 1], [0.6, 0.8]])
TEXTS = ["sea room", "quiet room", "sea", "zzz sea"]
TABLE = pa.table({"text": TEXTS, "name": ["a", "b", "c", "d"], "stars": [1, 2, 3, 4]})
MODEL = dv.fit(TEXTS, VECTORS, "idf-sum-pca")


def rows(**stars: tuple[str, int]) -> pa.Table:
    """Documents by their ids: their texts and stars."""
    texts, values = zip(*stars.values(), strict=True)
    return pa.table({"text": texts, "name": list(stars), "stars": values})


@pytest.fixture
def collection(tmp_path: Path) -> dv.Collection:
    return dv.build_collection(MODEL, TABLE, tmp_path / "c.idx", id_column="name", keep=["stars"])


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_documents_take_the_place_of_those_with_their_ids(collection: dv.Collection) -> None:
    after = collection.add(rows(b=("quiet sea", 7), e=("room", 8)), update=True)
    assert after.ids.to_pylist() == ["a", "c", "d", "b", "e"]
    assert (after.text("b"), after.documents(["b"])["stars"].to_pylist()) == ("quiet sea", [7])
    assert np.array_equal(after.index.vectors[3:], collection.model.embed(["quiet sea", "room"]))
    assert np.array_equal(after.index.vectors[:3], collection.index.vectors[[0, 2, 3]])
    assert collection.text("b") == "quiet room"  # what was opened before goes on
    info = after.info()
    assert (info["documents_built"], info["documents_added"], info["documents_removed"]) == (
        3,
        2,
        1,
    )
    assert dv.open_collection(after.path).search("quiet", k=5) == after.search("quiet", k=5)


def test_all_documents_may_be_replaced_at_once(collection: dv.Collection) -> None:
    texts = pa.array(["quiet sea", "room", "", "unheard"])
    after = collection.add(TABLE.set_column(0, "text", texts), update=True)
    assert after.column("text").to_pylist() == texts.to_pylist()
    assert after.info()["documents_built"] == 0
    fresh = dv.build_collection(
        collection.model, TABLE.set_column(0, "text", texts), collection.path.with_name("f.idx"),
        id_column="name", keep=["stars"], as_collection=False,
    )  # fmt: skip
    assert after.search("quiet unheard room", k=4) == fresh.search("quiet unheard room", k=4)


def test_updating_what_is_not_there_is_adding(collection: dv.Collection) -> None:
    after = collection.add(rows(e=("room", 8)), update=True)
    assert after.ids.to_pylist() == ["a", "b", "c", "d", "e"]
    assert after.info()["documents_removed"] == 0


def test_documents_are_removed_by_their_ids(collection: dv.Collection) -> None:
    after = collection.remove(["d", "a"])
    assert after.ids.to_pylist() == ["b", "c"]
    assert np.array_equal(after.index.vectors, collection.index.vectors[1:3])
    assert after.find_row("a") is None
    assert [one.id for one in after.search("zzz room", k=9, by="keyword")] == ["b"]
    assert after.query("zzz").unknown == ["zzz"]  # the word has gone with its document
    assert after.remove(after.ids.slice(1)).ids.to_pylist() == ["b"]


def test_nothing_of_what_is_removed_is_left_on_disk_after_a_merge(tmp_path: Path) -> None:
    secret = "xylophone"
    texts = [f"sea {number}" for number in range(50)] + [f"the {secret} room"]
    built = dv.build_collection(MODEL, texts, tmp_path / "c.idx", as_collection=False)
    assert any(secret.encode() in data for data in content(built.path).values())
    marked = built.remove(["50"])
    assert marked.query(secret).unknown == [secret]
    after = marked.compact()
    assert not any(secret.encode() in data for data in content(after.path).values())
    named = {file.name for file in after.description.files}
    assert content(after.path).keys() == {"collection.json", *named}
    assert after.query(secret).unknown == [secret]


def test_a_purge_leaves_nothing_on_disk_at_once(collection: dv.Collection) -> None:
    after = collection.remove(["d"], purge=True).add(
        rows(a=("quiet sea", 7)), update=True, purge=True
    )
    on_disk = b"".join(content(after.path).values())
    assert b"zzz" not in on_disk
    assert b"sea room" not in on_disk
    assert [segment.live for segment in after.description.segments] == [3]


def test_documents_are_removed_by_a_filter(collection: dv.Collection) -> None:
    assert collection.remove(filter="stars >= 2 and id != 'c'").ids.to_pylist() == ["a", "c"]


def test_a_filter_that_nothing_fulfils_changes_nothing(collection: dv.Collection) -> None:
    before = content(collection.path)
    assert len(collection.remove(filter="stars > 9")) == 4
    assert len(collection.remove([])) == 4
    assert len(collection.remove(["nobody", "\ud800"], missing_ok=True)) == 4
    assert content(collection.path) == before


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda c: c.remove(["a", "nobody"]), "no document has the id 'nobody'.*nothing was rem"),
        (lambda c: c.remove(["x", "y", "z"]), "the id 'x', nor 2 others"),
        (lambda c: c.remove("a"), "expected a list of ids, got the string 'a'"),
        (lambda c: c.remove([3]), "no document has the id '3'; one is 'a'; nothing was removed"),
        (lambda c: c.remove([0.5]), r"an id is a string or a whole number, got float \(0.5\)"),
        (lambda c: c.remove(), "either ids or a filter of what to remove, got neither"),
        (lambda c: c.remove(["a"], filter="stars > 1"), "got both"),
        (lambda c: c.remove(filter="nope > 1"), "the columns are 'id', 'stars'"),
        (lambda c: c.remove(filter="stars > 0"), "all 4 documents would be removed.*delete the f"),
        (lambda c: c.add(rows(a=("sea", 1))), "ids must be unique, got 'a' in row 4 and before"),
        (
            lambda c: c.add(pa.concat_tables([rows(a=("sea", 1))] * 2), update=True),
            "ids must be unique, got 'a' in row 1 and before in row 0",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(
    wrong: Callable[[dv.Collection], object], said: str, collection: dv.Collection
) -> None:
    before = content(collection.path)
    with pytest.raises(dv.InputError, match=said):
        wrong(collection)
    assert content(collection.path) == before


def test_numbers_are_never_used_again_and_cannot_be_updated(tmp_path: Path) -> None:
    built = dv.build_collection(MODEL, TEXTS, tmp_path / "c.idx")
    after = built.remove(["1", "3"]).add(["room", "sea"])
    assert after.ids.to_pylist() == ["0", "2", "4", "5"]
    with pytest.raises(dv.InputError, match="none has an id to be updated by"):
        after.add(["sea"], update=True)
    with pytest.raises(dv.InputError, match="numbered from 0 to 5"):
        after.text("1")


class Unplugged(BaseException):
    """Somebody pulls the plug."""


def unplugged() -> Iterator[pa.Table]:
    yield rows(a=("sea", 1)).to_batches()[0]
    raise Unplugged


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.add(rows(a=("sea", 1), e=("sea", 2)), update=True),
        lambda c: c.remove(["a"]),
        lambda c: c.compact(),
    ],
)
def test_stopped_at_any_write_to_disk_it_is_the_old_or_the_new(
    change: Callable[[dv.Collection], dv.Collection],
    collection: dv.Collection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    collection = collection.add(rows(z=("room", 1))).remove(["b"])
    before = content(collection.path)
    flush, stops = os.fsync, 0

    def stop_after(count: int) -> Callable[[int], None]:
        left = count

        def fsync(handle: int) -> None:
            nonlocal left
            if not left:
                raise Unplugged
            left -= 1
            flush(handle)

        return fsync

    while True:
        monkeypatch.setattr(os, "fsync", stop_after(stops))
        try:
            change(collection)
        except Unplugged:
            now = dv.open_collection(collection.path)
            if now.description != collection.description:
                break  # its name was given, and only the folder not yet on disk
            assert content(collection.path) == before
            stops += 1
        else:
            break
        finally:
            monkeypatch.undo()
    assert stops >= 2
    assert dv.open_collection(collection.path).description != collection.description


def test_counts_and_zero_rows_are_those_of_what_is_left(collection: dv.Collection) -> None:
    grown = collection.add(rows(e=("", 1), f=("zzz yyy", 2), g=("sea", 3)))
    assert grown.description.zero_rows == 2
    after = grown.remove(["e", "a"])
    assert after.description.built == TextCounts(3, 5, 4, 0)
    assert after.description.added == TextCounts(2, 3, 1, 1)
    assert after.description.zero_rows == 1
    assert dv.open_collection(after.remove(["f"]).path).description.zero_rows == 0


def test_files_are_joined_on_request(tmp_path: Path) -> None:
    built = dv.build_collection(MODEL, [f"sea {n}" for n in range(400)], tmp_path / "c.idx")
    grown = built.add(["room"] * 90).add(["quiet"] * 3).remove(["3", "491"])
    assert [segment.live for segment in grown.description.segments] == [399, 90, 2]
    after = grown.compact()
    assert [segment.documents.documents for segment in after.description.segments] == [491]
    assert after.column("text").to_pylist() == grown.column("text").to_pylist()
    assert len(list(after.path.glob("documents-*"))) == 1
    before = content(after.path)
    assert after.compact() is after
    assert content(after.path) == before


def test_what_has_not_changed_is_not_opened_again(collection: dv.Collection) -> None:
    assert refresh(collection) is collection
    after = collection.remove(["a"])
    assert after.model is collection.model
    assert refresh(collection).ids.equals(after.ids)
    other = dv.fit(TEXTS, VECTORS, "unit-sum")
    dv.build_collection(other, TEXTS, collection.path)
    assert refresh(after).model.fingerprint == other.fingerprint
    with pytest.raises(dv.InputError, match="built anew since it was opened"):
        after.remove(["b"])


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors of Linux")
def test_states_that_nobody_holds_hold_nothing(collection: dv.Collection) -> None:
    def held() -> tuple[int, int]:
        maps = Path("/proc/self/maps").read_text()
        return len(list(Path("/proc/self/fd").iterdir())), maps.count(str(collection.path))

    first = after = collection.add(rows(a=("sea", 0)), update=True)
    after.search("sea")
    before = held()
    for number in range(3):
        after = after.add(rows(a=(f"sea {number}", number)), update=True)
        after.search("sea")
    del first
    assert held() == before


@pytest.mark.skipif(os.name == "nt", reason="locks of Unix")
class TestWithoutLocks:
    """File systems whose locks do nothing, or that have none."""

    @pytest.fixture(autouse=True)
    def no_locks(self, monkeypatch: pytest.MonkeyPatch) -> None:
        import fcntl

        monkeypatch.setattr(fcntl, "flock", lambda *given: None)

    def test_a_second_writer_that_begins_and_fails_destroys_nothing(
        self, collection: dv.Collection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        save = updates.save_manifest

        def just_before(*given: Any) -> None:
            with suppress(dv.InputError), updates.updating(collection):
                raise dv.InputError("a second writer that begins, and is refused")
            save(*given)

        monkeypatch.setattr(updates, "save_manifest", just_before)
        after = collection.add(rows(e=("quiet sea", 7)))
        assert after.ids.to_pylist() == ["a", "b", "c", "d", "e"]
        assert dv.open_collection(collection.path, verify=True).text("e") == "quiet sea"
        named = {file.name for file in after.description.files}
        assert content(collection.path).keys() == {"collection.json", *named}

    def test_of_two_writers_the_second_is_told_that_the_first_was_faster(
        self, collection: dv.Collection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        save = updates.save_manifest

        def another_is_faster(*given: Any) -> None:
            monkeypatch.setattr(updates, "save_manifest", save)
            collection.add(rows(f=("room", 8)))
            save(*given)

        monkeypatch.setattr(updates, "save_manifest", another_is_faster)
        with pytest.raises(dv.InputError, match="somebody else changed the collection meanwhile"):
            collection.add(rows(e=("quiet sea", 7)))
        left = dv.open_collection(collection.path, verify=True)
        assert left.ids.to_pylist() == ["a", "b", "c", "d", "f"]
        assert left.add(rows(e=("quiet sea", 7))).ids.to_pylist()[-2:] == ["f", "e"]

    def test_leftovers_are_removed_when_they_are_a_day_old(self, collection: dv.Collection) -> None:
        new, old = (collection.path / f"vectors-00000{n}.safetensors" for n in (7, 8))
        for path in (new, old):
            path.write_bytes(b"")
        os.utime(old, (0, 0))
        collection.add(rows(e=("sea", 1)))
        assert new.exists()
        assert not old.exists()

    def test_a_missing_lock_is_a_warning(
        self, collection: dv.Collection, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import fcntl

        def refuse(*given: object) -> None:
            raise OSError(errno.ENOLCK, "No locks available")

        monkeypatch.setattr(fcntl, "flock", refuse)
        with pytest.warns(dv.LockWarning, match="nobody else writes"):
            assert len(collection.add(rows(e=("sea", 1)))) == 5
