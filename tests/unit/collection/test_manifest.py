"""Collections on disk: whole at every moment, added to, and refused when damaged."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from safetensors.numpy import load_file

import deltavec as dv
from deltavec.collection.info import refit_reason
from deltavec.collection.manifest import (
    COLLECTION_FOLDER,
    SEGMENT_FIELDS,
    as_entries,
    read_manifest,
    writing,
)
from deltavec.collection.segment import read_deleted
from deltavec.collection.segment_writer import write_deleted
from deltavec.core.statistics import TextCounts
from deltavec.io.artifacts.manifest import with_checksum
from deltavec.search.matrix import LARGEST_ERROR

VECTORS = dv.WordVectors(["sea", "room", "quiet"], [[1, 0], [0, 1], [0.6, 0.8]])
TEXTS = ["sea room", "quiet room", "sea", "zzz sea"]
TABLE = pa.table({"text": TEXTS, "name": ["a", "b", "c", "d"], "stars": [1, 2, 3, 4]})
MORE = pa.table({"text": ["quiet xyz", "xyz"], "name": ["e", "f"], "stars": [5, None]})
MODEL = dv.fit(TEXTS, VECTORS, "idf-sum-pca")


def build(path: Path) -> dv.Collection:
    return dv.build_collection(MODEL, TABLE, path, id_column="name", keep=["stars"])


@pytest.fixture
def collection(tmp_path: Path) -> dv.Collection:
    return build(tmp_path / "c.idx")


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_what_is_added_stands_behind_the_rest(collection: dv.Collection) -> None:
    before = np.array(collection.index.vectors)
    after = collection.add(MORE)
    assert (len(collection), len(after)) == (4, 6)
    assert after.ids.to_pylist() == ["a", "b", "c", "d", "e", "f"]
    assert after.column("stars").to_pylist() == [1, 2, 3, 4, 5, None]
    assert np.array_equal(after.index.vectors[:4], before)
    assert np.array_equal(after.index.vectors[4:], collection.model.embed(["quiet xyz", "xyz"]))
    assert after.model.fingerprint == collection.model.fingerprint
    assert after.similar("e", k=1)[0].id in "abcd"
    assert collection.text("a") == "sea room"  # what was opened before goes on


def test_the_vectors_are_a_safetensors_file(collection: dv.Collection) -> None:
    name = collection.description.segments[0].vectors.name
    stored = load_file(collection.path / name)
    assert np.array_equal(stored["vectors"], collection.index.vectors)


def test_a_collection_without_ids_goes_on_counting(tmp_path: Path) -> None:
    built = dv.build_collection(MODEL, TEXTS, tmp_path / "c.idx")
    after = built.add(["sea"]).add(iter(["room", "quiet"]))
    assert after.ids.to_pylist() == [str(number) for number in range(7)]


def test_columns_are_read_as_the_collection_has_them(
    collection: dv.Collection, tmp_path: Path
) -> None:
    (tmp_path / "more.csv").write_text("name,text,stars\ne,sea,7\n")
    assert collection.add(tmp_path / "more.csv").column("stars").to_pylist()[-1] == 7
    (tmp_path / "odd.csv").write_text("name,text,stars\ng,sea,many\n")
    with pytest.raises(dv.CorpusError, match="'stars' holds string, in the collection it is int64"):
        collection.add(tmp_path / "odd.csv")


@pytest.mark.parametrize(
    ("corpus", "said"),
    [
        (TABLE, "got 'a' in row 4 and before in row 0"),
        (pa.table({"text": ["sea"], "stars": [1]}), "no column 'name'"),
        (pa.table({"text": ["sea"], "name": ["x"]}), "no column 'stars'"),
        (MORE.slice(0, 0), "holds no documents"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(
    corpus: pa.Table, said: str, collection: dv.Collection
) -> None:
    before = content(collection.path)
    with pytest.raises(dv.InputError, match=said):
        collection.add(corpus)
    assert content(collection.path) == before


class Unplugged(BaseException):
    """Somebody pulls the plug."""


def unplugged() -> Iterator[str]:
    yield from ["sea"] * 10
    raise Unplugged


@pytest.mark.parametrize("write", ["add", "build"])
def test_whoever_is_stopped_halfway_leaves_the_old_collection(write: str, tmp_path: Path) -> None:
    built = dv.build_collection(MODEL, TEXTS, tmp_path / "c.idx")
    before = content(tmp_path)
    writes = {
        "add": lambda: built.add(unplugged()),
        "build": lambda: dv.build_collection(
            MODEL, unplugged(), tmp_path / "c.idx", as_collection=False
        ),
    }
    with pytest.raises(Unplugged):
        writes[write]()
    assert content(tmp_path) == before


def test_what_a_kill_left_is_removed_by_the_next_write(collection: dv.Collection) -> None:
    left = [
        *("vectors-000002.safetensors", "documents-000008.arrow", "map-000009.safetensors"),
        f".deltavec-{'0' * 32}.part",
    ]
    for name in left:
        (collection.path / name).write_bytes(b"half")
    assert len(dv.open_collection(collection.path)) == 4
    after = collection.add(MORE)
    assert len(after) == 6
    named = [file.name for file in after.description.files]
    assert names(collection.path) == sorted(["collection.json", "model.dv", *named])


def test_many_additions_make_few_files(tmp_path: Path) -> None:
    built = dv.build_collection(MODEL, TEXTS, tmp_path / "c.idx")
    for number in range(20):
        built = built.add([f"sea {number}"])
    sizes = [segment.live for segment in built.description.segments]
    assert sum(sizes) == len(built) == 24
    assert len(sizes) <= 5
    assert built.column("text").to_pylist() == TEXTS + [f"sea {number}" for number in range(20)]
    assert dv.open_collection(built.path).info()["additions"] == 20


def test_a_build_replaces_a_collection_and_nothing_else(tmp_path: Path) -> None:
    first = build(tmp_path / "c.idx").add(MORE)
    second = build(tmp_path / "c.idx")
    assert (len(first), len(second)) == (6, 4)
    assert first.text("e") == "quiet xyz"  # still open
    assert names(tmp_path) == ["c.idx"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    with pytest.raises(dv.InputError, match=r"holds 'notes.txt', which is not part"):
        build(tmp_path / "mine")
    MODEL.save(tmp_path / "m.dv")
    with pytest.raises(dv.InputError, match="not part of a deltavec collection"):
        build(tmp_path / "m.dv")
    (tmp_path / "file").write_text("")
    with pytest.raises(dv.InputError, match="found a file"):
        build(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    assert len(build(tmp_path / "empty")) == 4


@pytest.mark.skipif(os.name == "nt", reason="locks of Unix")
def test_two_cannot_write_at_once(collection: dv.Collection) -> None:
    with writing(collection.path):
        with pytest.raises(dv.InputError, match="somebody else is writing"):
            collection.add(MORE)
        with pytest.raises(dv.InputError, match="somebody else is writing"):
            build(collection.path)
        assert len(dv.open_collection(collection.path)) == 4  # reading goes on
    assert len(collection.add(MORE)) == 6


def test_a_collection_built_anew_meanwhile_is_not_added_to(tmp_path: Path) -> None:
    old = dv.build_collection(MODEL, TEXTS, tmp_path / "c.idx")
    dv.build_collection(dv.fit(TEXTS, VECTORS, "unit-sum"), TEXTS, tmp_path / "c.idx")
    with pytest.raises(dv.InputError, match="built anew since it was opened"):
        old.add(["sea"])


def vectors_file(folder: Path) -> Path:
    return next(folder.glob("vectors-*"))


def documents_file(folder: Path) -> Path:
    return next(folder.glob("documents-*"))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def words_file(folder: Path) -> Path:
    return next(folder.glob("words-*"))


def flip(path: Path, place: int) -> None:
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)


def flip_text(path: Path) -> None:
    flip(path, path.read_bytes().index(b"quiet"))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda folder: cut(vectors_file(folder)), "cut short"),
        (lambda folder: cut(documents_file(folder)), "cut short"),
        (lambda folder: cut(folder / "collection.json"), "does not have its checksum"),
        (lambda folder: cut(folder / "model.dv" / "model.safetensors"), "cut short"),
        (lambda folder: flip(vectors_file(folder), 20), "the header is not the one"),
        (lambda folder: flip(vectors_file(folder), -2), "does not have its checksum"),
        (lambda folder: flip(documents_file(folder), 40), "the file is damaged"),
        (lambda folder: flip(documents_file(folder), 0), "damaged"),
        (lambda folder: flip_text(documents_file(folder)), "does not have its checksum"),
        (lambda folder: flip(words_file(folder), 20), "does not have its checksum"),
        (lambda folder: flip(words_file(folder), -2), "does not have its checksum"),
        (lambda folder: os.truncate(words_file(folder), 99), "expected .* bytes, found 99"),
        (lambda folder: words_file(folder).unlink(), "the file is missing"),
        (lambda folder: flip(folder / "collection.json", 100), "does not have its checksum"),
        (lambda folder: vectors_file(folder).unlink(), "missing"),
        (lambda folder: documents_file(folder).unlink(), "missing"),
        (lambda folder: shutil.rmtree(folder / "model.dv"), "nothing there"),
        (
            lambda folder: (folder / "collection.json").unlink(),
            "collection.json: the file is missing",
        ),
        (lambda folder: (folder / "collection.json").write_text("{}"), "not a checksum"),
        (lambda folder: (folder / "collection.json").write_bytes(b"x" * 2_000_000), "at most"),
        (lambda folder: shutil.rmtree(folder), "nothing there"),
    ],
)
def test_damage_is_noticed(
    damage: Callable[[Path], None], said: str, collection: dv.Collection
) -> None:
    damage(collection.path)
    with pytest.raises(dv.InputError, match=said):
        dv.open_collection(collection.path)


def test_a_changed_text_is_noticed_when_it_is_read(collection: dv.Collection) -> None:
    flip_text(documents_file(collection.path))
    opened = dv.open_collection(collection.path, verify=False)
    with pytest.raises(dv.InputError, match="damaged"):
        opened.documents(["a"])


def test_opening_reads_no_vector_since_their_error_is_stored(collection: dv.Collection) -> None:
    flip(vectors_file(collection.path), -1)  # the last row is far from unit length now
    opened = dv.open_collection(collection.path, verify=False)
    assert abs(np.linalg.norm(opened.index.vectors[-1]) - 1) > LARGEST_ERROR
    with pytest.raises(dv.InputError, match="does not have its checksum"):
        dv.open_collection(collection.path)


@pytest.mark.parametrize("file_of", [vectors_file, words_file])
def test_damage_is_not_copied_on(
    file_of: Callable[[Path], Path], collection: dv.Collection
) -> None:
    flip(file_of(collection.path), -4)  # the last bit: still about of unit length
    with pytest.raises(dv.InputError, match="does not have its checksum"):
        dv.open_collection(collection.path, verify=False).add(MORE)


@pytest.mark.parametrize("rows", [[-1], [4], [2, 1], [1, 1]])
def test_deleted_documents_that_are_not_there_are_refused(rows: list[int], tmp_path: Path) -> None:
    built = dv.build_collection(MODEL, TEXTS, tmp_path / "c.idx")
    deleted = write_deleted(built.path / "deleted-000001.safetensors", np.array(rows))
    segment = replace(built.description.segments[0], deleted=deleted)
    with pytest.raises(dv.InputError, match="documents that are not there"):
        read_deleted(built.path, segment)


def test_another_model_is_noticed(collection: dv.Collection) -> None:
    shutil.rmtree(collection.path / "model.dv")
    dv.fit(TEXTS, VECTORS, "unit-sum").save(collection.path / "model.dv")
    with pytest.raises(dv.InputError, match="not the model"):
        dv.open_collection(collection.path)


def test_a_folder_of_something_else_says_what_it_is(tmp_path: Path) -> None:
    MODEL.save(tmp_path / "m.dv")
    with pytest.raises(dv.InputError, match="is a model"):
        dv.open_collection(tmp_path / "m.dv")
    (tmp_path / "file").write_text("")
    with pytest.raises(dv.InputError, match="found a file"):
        dv.open_collection(tmp_path / "file")


def rewritten(collection: dv.Collection, **entries: object) -> None:
    """Write other entries, with a checksum that is right: what somebody who means harm does."""
    stated = json.loads((collection.path / "collection.json").read_bytes())
    stated.pop("checksum")
    for name, value in entries.items():
        if name in SEGMENT_FIELDS:
            stated["segments"][0][name] = value
            continue
        if value is None:
            del stated[name]
        else:
            stated[name] = value
    (collection.path / "collection.json").write_bytes(with_checksum(stated))


SHA = "0" * 64
MAP = {
    "name": "map-000001.safetensors", "documents": 4, "bytes": 9, "sha256": SHA, "drawn": 4,
    "name_bytes": 2,
}  # fmt: skip
DELETED = {"name": "deleted-000001.safetensors", "documents": 1, "bytes": 9, "sha256": SHA}
WORDS = {
    "name": "words-000001.safetensors", "documents": 4, "bytes": 9, "sha256": SHA, "words": 4,
    "word_bytes": 9, "terms": 4, "postings": 7, "rules": 0, "rule_bytes": 0,
}  # fmt: skip


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"format": "deltavec model"}, "expected the format"),
        ({"format_version": 2}, "newer deltavec.*upgrade"),
        ({"words": {"name": "../words"}}, "entry '.*' is missing"),
        ({"words": {**WORDS, "name": "words.safetensors"}}, "name of a file of this collection"),
        ({"words": {**WORDS, "terms": -1}}, "terms"),
        ({"words": {**WORDS, "documents": 3}}, "words-000001.*: not as many documents"),
        ({"map": {**MAP, "name": "../map-000001.safetensors"}}, "name of a file"),
        ({"map": {**MAP, "name_bytes": 10**12}}, "name_bytes"),
        ({"map": {**MAP, "documents": 3}}, "map-000001.*: not as many documents"),
        ({"format_version": "1"}, "version 1 of the format"),
        ({"length_error": None}, "'length_error' is missing"),
        ({"length_error": 0.5}, "length_error must be from 0 to 0.001"),
        ({"dimensions": None}, "missing"),
        ({"dimensions": 3}, "not the model"),
        ({"dimensions": -1}, "must be from 1"),
        ({"dimensions": 2.0}, "must be a whole number"),
        ({"zero_rows": True}, "must be a whole number"),
        ({"columns": 7}, "must be a list"),
        ({"columns": [7]}, "a list of strings"),
        ({"segments": [7]}, "missing"),
        ({"own_model": 1}, "true or false"),
        ({"surprise": 1}, "unknown"),
        ({"columns": ["other"]}, "other columns"),
        ({"segments": []}, "at least one segment"),
        ({"scale": {}}, "is missing"),
        ({"deleted": {**DELETED, "documents": 5}}, "more documents are deleted than there are"),
        ({"deleted": {**DELETED, "name": "../deleted-000001.safetensors"}}, "name of a file"),
        ({"deleted": DELETED}, "as many documents as there are vectors"),
        ({"rows": {}}, "missing"),
        ({"built": {"documents": 1}}, "missing"),
        (
            {
                "built": {
                    "documents": 1,
                    "tokens": 1,
                    "known_tokens": 2,
                    "unknown_documents": 0,
                }
            },
            "counted in part",
        ),
        (
            {"vectors": {"name": "../secret", "documents": 4, "bytes": 1, "sha256": SHA}},
            "name of a file of this collection",
        ),
        (
            {
                "vectors": {
                    "name": "vectors-000001.safetensors",
                    "documents": 4,
                    "bytes": 1,
                    "sha256": "x",
                }
            },
            "expected a SHA-256",
        ),
    ],
)
def test_entries_are_looked_at_whoever_wrote_them(
    entries: dict[str, object], said: str, collection: dv.Collection
) -> None:
    rewritten(collection, **entries)
    with pytest.raises(dv.InputError, match=said):
        dv.open_collection(collection.path)


def test_a_segment_named_twice_is_refused(collection: dv.Collection) -> None:
    stated = collection.description
    twice = replace(stated, segments=stated.segments * 2)
    with pytest.raises(dv.InputError, match="a file is named twice"):
        read_manifest(COLLECTION_FOLDER.decode(COLLECTION_FOLDER.encode(as_entries(twice))))


def test_info_tells_coverage_and_drift(collection: dv.Collection) -> None:
    before = collection.info()
    assert before["documents"] == 4
    assert before["coverage_at_fit"] == before["coverage_built"] == pytest.approx(6 / 7)
    assert before["coverage_added"] is None
    assert before["columns"] == {"stars": "int64"}
    assert not before["refit_due"]
    after = collection.add(MORE).info()
    assert after["coverage_added"] == pytest.approx(1 / 3)
    assert (after["documents_built"], after["documents_added"]) == (4, 2)
    assert not after["refit_due"]  # three words are too few to judge by
    unknown = pa.table({"text": ["xyz " * 1000], "name": ["g"], "stars": [0]})
    due = dv.open_collection(collection.path).add(unknown).info()
    assert due["refit_due"]
    assert "of the words added" in due["refit_reason"]


def test_more_added_than_built_is_a_reason_to_fit_anew() -> None:
    fitted, built = TextCounts(9, 9000, 9000), TextCounts(10, 5000, 5000)
    assert refit_reason(fitted, built, TextCounts(10, 5000, 4800)) is None
    assert "11 documents were added to the 10" in str(
        refit_reason(fitted, built, TextCounts(11, 5000, 5000))
    )
    assert "of the collection" in str(
        refit_reason(fitted, TextCounts(10, 5000, 4700), TextCounts())
    )


def test_a_full_disk_is_one_clear_error(
    collection: dv.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    before = content(collection.path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(dv.DeltavecError, match="No space left on device; what stood at"):
        collection.add(MORE)
    monkeypatch.undo()
    assert content(collection.path) == before


def test_a_disk_that_fails_at_the_very_end_leaves_a_whole_collection(
    collection: dv.Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    flush = os.fsync

    def not_folders(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(5, "Input/output error")
        flush(handle)

    monkeypatch.setattr(os, "fsync", not_folders)
    with pytest.raises(dv.DeltavecError, match="Input/output error"):
        collection.add(MORE)
    monkeypatch.undo()
    assert len(dv.open_collection(collection.path)) == 6  # all but the name was on disk
