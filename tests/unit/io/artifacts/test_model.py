"""Models on disk: what is written, what is refused, and what is never lost."""

import hashlib
import json
import os
import stat
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import deltavec as dv
from deltavec.io.artifacts import model as storage
from deltavec.io.artifacts.manifest import NO_CHECKSUM, with_checksum
from deltavec.io.artifacts.model import model_layout
from support.processes import Process

CORPUS = ["The room was clean", "a clean pool, and the sea", "hôtel by the sea", "the the the"]
WORDS = ["the", "room", "clean", "pool", "sea", "hôtel"]


def fitted(recipe="idf-center-pca", dimensions=3, **options):
    matrix = np.random.default_rng(7).standard_normal((len(WORDS), dimensions))
    return dv.fit(CORPUS, dv.WordVectors(WORDS, matrix), recipe, **options)


@pytest.fixture
def folder(tmp_path):
    """A saved model."""
    fitted().save(tmp_path / "reviews.dv")
    return tmp_path / "reviews.dv"


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def entries_of(folder):
    entries = json.loads((folder / "model.json").read_text())
    del entries["checksum"]
    return entries


def describe(folder, **changes):
    """Change entries of the description as a stranger would, checksum and all."""
    (folder / "model.json").write_bytes(with_checksum(entries_of(folder) | changes))


def put(folder, name, values):
    """Change an array of the file as a stranger would, checksum and all."""
    entries = entries_of(folder)
    layout = model_layout(entries)
    data = bytearray((folder / "model.safetensors").read_bytes())
    begin = len(layout.header) + layout.tensors[name].begin
    data[begin : begin + len(values.tobytes())] = values.tobytes()
    (folder / "model.safetensors").write_bytes(data)
    describe(folder, tensor_sha256=hashlib.sha256(data).hexdigest())


def refused(folder, match, **options):
    with pytest.raises(dv.ModelError, match=match) as caught:
        dv.load(folder, **options)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400 + len(str(folder))
    assert str(folder) in str(caught.value)


# What is written


def test_a_model_is_a_folder_of_two_files(folder):
    assert names_in(folder) == ["model.json", "model.safetensors"]
    assert names_in(folder.parent) == ["reviews.dv"]


def test_the_description_can_be_read_by_people(folder):
    entries = entries_of(folder)
    assert entries["format"] == "deltavec model"
    assert entries["format_version"] == 1
    assert entries["library_version"] == dv.__version__
    assert entries["recipe"]["weighting"] == "idf"
    assert (entries["documents"], entries["words"], entries["dimensions"]) == (4, 6, 3)
    assert entries["tensor_bytes"] == (folder / "model.safetensors").stat().st_size


def test_permissions_are_those_of_any_new_file(folder):
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o777 & ~umask
    assert stat.S_IMODE((folder / "model.json").stat().st_mode) == 0o666 & ~umask


def test_the_same_model_is_written_as_the_same_bytes(folder, tmp_path):
    fitted().save(tmp_path / "again.dv")
    for name in storage.FILES:
        assert (folder / name).read_bytes() == (tmp_path / "again.dv" / name).read_bytes()


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5, 16])
def test_every_array_is_aligned_and_the_table_on_a_line_of_the_cache(tmp_path, dimensions):
    fitted(dimensions=dimensions).save(tmp_path / "m.dv")
    arrays = storage.arrays_of(dv.load(tmp_path / "m.dv"))
    assert all(array.flags.aligned for array in arrays.values())
    assert arrays["rows"].ctypes.data % 64 == 0


def test_the_table_is_mapped_and_cannot_be_written(folder):
    rows = dv.load(folder).table.rows
    assert not rows.flags.owndata
    assert not rows.flags.writeable


def test_folders_above_are_made_and_a_string_is_a_path(tmp_path):
    fitted().save(str(tmp_path / "models" / "hotels" / "reviews.dv"))
    assert dv.load(str(tmp_path / "models" / "hotels" / "reviews.dv")).dimensions == 3


def test_numbers_keep_all_their_digits(tmp_path):
    recipe = dv.Recipe(weighting="sif", form="center", a=0.1 + 0.2, min_frequency=1 / 3)
    model = fitted(recipe)
    model.save(tmp_path / "m.dv")
    loaded = dv.load(tmp_path / "m.dv")
    assert loaded.recipe == model.recipe
    assert loaded.table.offset_norm == model.table.offset_norm


def test_notes_and_reasons_may_hold_any_text(tmp_path):
    notes = {"vectors": 'a "file"\n\x00\udce9 名前.txt', "": "}{"}
    model = replace(fitted(), notes=notes, reason="because \u2028 of\\this")
    model.save(tmp_path / "m.dv")
    assert dv.load(tmp_path / "m.dv").info() == model.info()


def test_an_empty_word_is_a_word(tmp_path):
    vectors = dv.WordVectors(["", "room"], [[1, 0], [0, 1]])
    model = dv.fit([["", "room"], ["room"]], vectors, "unit-sum")
    model.save(tmp_path / "m.dv")
    assert dv.load(tmp_path / "m.dv").vocabulary.words == model.vocabulary.words


# What a save replaces, and what it leaves alone


def test_a_model_is_replaced(folder):
    other = fitted("sif-sum", dimensions=5)
    other.save(folder)
    assert dv.load(folder).info() == other.info()
    assert names_in(folder.parent) == ["reviews.dv"]


def test_a_loaded_model_can_be_saved_over_itself(folder):
    before = dv.load(folder)
    vectors = before.embed(CORPUS)
    before.save(folder)
    assert dv.load(folder).info() == before.info()
    assert np.array_equal(before.embed(CORPUS), vectors)


def test_a_loaded_model_outlives_its_folder(folder):
    model = dv.load(folder)
    fitted("unit-sum").save(folder)
    assert model.recipe.name == "idf-center-pca"
    assert np.array_equal(model.embed(CORPUS), fitted().embed(CORPUS))


def test_an_empty_folder_is_used(tmp_path):
    (tmp_path / "m.dv").mkdir()
    fitted().save(tmp_path / "m.dv")
    assert dv.load(tmp_path / "m.dv").dimensions == 3


def test_a_damaged_model_is_replaced(folder):
    (folder / "model.safetensors").unlink()
    fitted().save(folder)
    assert dv.load(folder).dimensions == 3


def test_a_link_is_followed(folder, tmp_path):
    (tmp_path / "latest").symlink_to(folder)
    fitted("unit-sum").save(tmp_path / "latest")
    assert (tmp_path / "latest").is_symlink()
    assert dv.load(folder).recipe.name == "unit-sum"


@pytest.mark.parametrize("name", ["notes.txt", "model.safetensors.bak", ".hidden"])
def test_a_folder_that_holds_anything_else_is_left_alone(folder, name):
    (folder / name).write_text("precious")
    with pytest.raises(dv.ModelError, match=f"holds '{name}', which is not part"):
        fitted("unit-sum").save(folder)
    assert (folder / name).read_text() == "precious"
    assert dv.load(folder).recipe.name == "idf-center-pca"


def test_the_files_of_somebody_else_are_left_alone(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"precious")
    with pytest.raises(dv.ModelError, match="not a deltavec model, and is left alone"):
        fitted().save(tmp_path)
    (tmp_path / "model.json").write_text('{"architecture": "other"}')
    with pytest.raises(dv.ModelError, match="not a deltavec model, and is left alone"):
        fitted().save(tmp_path)
    assert (tmp_path / "model.safetensors").read_bytes() == b"precious"


def test_a_file_in_the_way_is_left_alone(tmp_path):
    (tmp_path / "m.dv").write_text("precious")
    with pytest.raises(dv.ModelError, match="choose another name"):
        fitted().save(tmp_path / "m.dv")
    with pytest.raises(dv.ModelError, match=r"m\.dv"):
        fitted().save(tmp_path / "m.dv" / "below")
    assert (tmp_path / "m.dv").read_text() == "precious"


def test_a_broken_link_is_not_followed_into_nowhere(tmp_path):
    (tmp_path / "m.dv").symlink_to(tmp_path / "gone")
    with pytest.raises(dv.ModelError, match="choose another name"):
        fitted().save(tmp_path / "m.dv")


def test_a_tokenizer_of_ones_own_cannot_be_saved(tmp_path):
    model = fitted(tokenizer=str.split)
    with pytest.raises(dv.ModelError, match=r"files hold no code: name it .*, or fit with"):
        model.save(tmp_path / "m.dv")
    assert names_in(tmp_path) == []


def test_what_could_not_be_loaded_is_not_saved(tmp_path):
    model = fitted()
    rows = model.table.rows.copy()
    rows[0, 0] = np.nan
    with pytest.raises(dv.ModelError, match="rows must be finite"):
        replace(model, table=replace(model.table, rows=rows)).save(tmp_path / "m.dv")
    with pytest.raises(dv.ModelError, match="note 'n' must be a string, got 3"):
        replace(model, notes={"n": 3}).save(tmp_path / "m.dv")
    with pytest.raises(dv.ModelError, match="notes are too long"):
        replace(model, notes={"n": "x" * (1 << 20)}).save(tmp_path / "m.dv")
    assert names_in(tmp_path) == []


def test_a_process_killed_while_it_saves_leaves_a_model_in_place(folder):
    program = """
import sys, deltavec as dv
model = dv.load(sys.argv[1])
print("ready", flush=True)
while True:
    model.save(sys.argv[1])
"""
    arguments = [sys.executable, "-c", program, str(folder)]
    with Process(arguments, stdout=subprocess.PIPE) as saver:
        expected = dv.load(folder).info()
        assert saver.stdout.readline() == b"ready\n"
        for _ in range(50):  # a reader never sees anything else, either
            assert dv.load(folder).info() == expected
        saver.kill()
    assert dv.load(folder).info() == expected


# What is refused


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    refused(tmp_path / "nowhere.dv", "expected the folder of a deltavec model, found nothing")


def test_a_file_is_no_folder(folder):
    refused(folder / "model.json", "expected the folder of a deltavec model, found a file")


@pytest.mark.parametrize("name", storage.FILES)
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    refused(folder, f"{name}: the file is missing")


@pytest.mark.parametrize("name", storage.FILES)
def test_a_folder_in_place_of_a_file_is_refused(folder, name):
    (folder / name).unlink()
    (folder / name).mkdir()
    refused(folder, f"{name}: the file is missing")


def test_a_newer_version_says_to_upgrade(folder):
    describe(folder, format_version=2)
    refused(folder, "expected version 1 .* got 2: written by a newer deltavec; upgrade deltavec")


def test_a_newer_version_may_have_entries_that_are_unknown_here(folder):
    describe(folder, format_version=2, quantized=True)
    refused(folder, "upgrade deltavec")


@pytest.mark.parametrize("version", [0, -1, "1", 1.0, None, True, [1]])
def test_an_odd_version_is_refused(folder, version):
    describe(folder, format_version=version)
    refused(folder, "expected version 1 of the format, got")


def test_another_format_is_refused(folder):
    describe(folder, format="deltavec index")
    refused(folder, "expected the format 'deltavec model', got 'deltavec index'")


def test_a_description_changed_by_hand_is_refused(folder):
    text = (folder / "model.json").read_text()
    (folder / "model.json").write_text(text.replace('"documents": 4', '"documents": 5'))
    refused(folder, "model.json: the content does not have its checksum")


def test_the_tensors_of_another_model_are_refused(folder, tmp_path):
    fitted("sif-center-pca").save(tmp_path / "other.dv")
    (tmp_path / "other.dv" / "model.safetensors").replace(folder / "model.safetensors")
    refused(folder, "model.safetensors: the content does not have its checksum")


def test_the_tensors_of_a_model_of_another_size_are_refused(folder, tmp_path):
    fitted(dimensions=4).save(tmp_path / "other.dv")
    (tmp_path / "other.dv" / "model.safetensors").replace(folder / "model.safetensors")
    refused(folder, "expected .* bytes, found .*: the file is cut short", verify=False)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"words": 10**15}, "tensor_bytes must be"),
        ({"words": 10**15, "tensor_bytes": 10**17}, "tensor_bytes must be"),
        ({"words": 10**30}, "words must be from 1 to"),
        ({"words": 0}, "words must be from 1 to"),
        ({"words": -1}, "words must be from 1 to"),
        ({"words": 6.0}, "words must be a whole number"),
        ({"words": True}, "words must be a whole number"),
        ({"dimensions": 0}, "dimensions must be from 1"),
        ({"components_removed": 4}, "components_removed must be from 0 to 3"),
        ({"documents": 0}, "documents must be from 1"),
        ({"unknown_documents": 5}, "unknown_documents must be from 0 to 4"),
        ({"unknown_documents": -1}, "unknown_documents must be from 0 to 4"),
        ({"tokens": 3}, "token_counts must be from 0 on, and no more than tokens in sum"),
        ({"offset_norm": -1.0}, "offset_norm must be from 0"),
        ({"offset_norm": 1}, "offset_norm must be a finite number"),
        (
            {"tokenizer": "japanese"},
            "is the rule 'japanese', which this deltavec does not know: up",
        ),
        ({"tokenizer": "words-9"}, "is the rule 'words-9', which this deltavec does not know"),
        ({"tokenizer": "words:stems"}, "is the rule 'words:stems', which this deltavec"),
        ({"tokenizer": None}, "tokenizer must be a string"),
        ({"notes": {"n": 1}}, "note 'n' must be a string, got 1"),
        ({"notes": ["n"]}, "notes must be an object"),
        ({"recipe": {"b": 1}}, "the entry 'b' is unknown"),
        ({"recipe": None}, "recipe must be an object"),
        ({"surprise": 1}, "the entry 'surprise' is unknown"),
        ({"reason": ["x" * 10_000]}, "reason must be a string"),
    ],
)
def test_a_description_that_no_model_has_is_refused(folder, changes, match):
    describe(folder, **changes)
    refused(folder, match)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"weighting": "bm25"}, "weighting must be"),
        ({"form": "auto"}, "settled"),
        ({"n_components_removed": 0}, "the recipe removes 0 components, the table lacks 1"),
        ({"n_components_removed": 1.0}, "n_components_removed must be a whole number"),
        ({"a": -1.0}, "a must be a number above 0"),
        ({"t": "1"}, "t must be a finite number"),
        ({"extra": 1}, "the entry 'extra' is unknown"),
    ],
)
def test_a_recipe_that_does_not_exist_is_refused(folder, changes, match):
    describe(folder, recipe=entries_of(folder)["recipe"] | changes)
    refused(folder, match)


def test_a_parameter_that_the_recipe_did_not_have_yet_has_its_default(folder):
    recipe = entries_of(folder)["recipe"]
    del recipe["power_iterations"], recipe["a"]
    describe(folder, recipe=recipe)
    assert dv.load(folder).recipe == dv.Recipe.named("idf-center-pca")


def test_an_entry_that_is_missing_is_named(folder):
    entries = entries_of(folder)
    del entries["tokens"]
    (folder / "model.json").write_bytes(with_checksum(entries))
    refused(folder, "the entry 'tokens' is missing")


def resealed(data):
    """The description with the checksum that it ought to have."""
    return data.replace(NO_CHECKSUM, hashlib.sha256(data).hexdigest().encode(), 1)


@pytest.mark.parametrize(
    "rest",
    [
        b"",
        b"\n}",
        b', "a": }',
        b', "format": "deltavec model", "format_version": NaN}',
        b', "offset_norm": ' + b"9" * 5000 + b"}",
        b', "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b', "a": "\xff"}',
        b'} "more"',
    ],
    ids=["cut", "bare", "comma", "nan", "digits", "deep", "bytes", "more"],
)
def test_what_is_no_proper_json_is_refused_in_one_line(folder, rest):
    start = b'{\n  "checksum": "' + NO_CHECKSUM + b'"'
    (folder / "model.json").write_bytes(resealed(start + rest))
    refused(folder, "model.json: ")


def test_a_description_of_a_size_that_none_has_is_not_read(folder):
    with (folder / "model.json").open("ab") as file:
        file.truncate(1 << 40)  # takes no room on disk
    refused(folder, "expected at most")


def test_tensors_of_a_size_that_none_has_are_not_read(folder):
    with (folder / "model.safetensors").open("ab") as file:
        file.truncate(1 << 40)
    refused(folder, "found 1,099,511,627,776: the file is cut short")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize(
    "name", ["rows", "norms", "penalties", "offset", "components", "coordinates"]
)
def test_numbers_that_no_model_has_are_refused(folder, name, bad):
    kind = storage.arrays_of(dv.load(folder))[name].dtype
    put(folder, name, np.array([bad], kind))
    refused(folder, f"{name} must be finite")


def test_without_verifying_the_table_itself_is_not_read(folder):
    put(folder, "rows", np.array([np.nan], np.float32))
    assert np.isnan(dv.load(folder, verify=False).table.rows[0, 0])


@pytest.mark.parametrize(
    ("name", "values", "match"),
    [
        ("token_counts", [-1], "token_counts must be from 0 on"),
        ("token_counts", [2**62] * 4, "no more than tokens in sum"),
        ("document_counts", [5], "document_counts must be from 0 to documents"),
        ("document_counts", [-1], "document_counts must be from 0 to documents"),
        ("word_offsets", [1], "word_offsets must rise from 0"),
        ("word_offsets", [0, 5, 3], "word_offsets must rise from 0"),
        ("word_offsets", [0, -(2**62)], "word_offsets must rise from 0"),
        ("word_offsets", [0, 0, 0], "words must be distinct, got '' twice"),
    ],
)
@pytest.mark.parametrize("verify", [True, False])
def test_counts_and_places_that_no_model_has_are_refused(folder, name, values, match, verify):
    put(folder, name, np.array(values, np.int64))
    refused(folder, match, verify=verify)


def test_words_that_are_not_utf_8_are_refused(folder):
    put(folder, "words", np.array([0xFF], np.uint8))
    refused(folder, "words must be UTF-8")


def test_words_that_break_a_character_apart_are_refused(folder):
    vocabulary = dv.load(folder).vocabulary
    offsets = vocabulary.offsets.copy()
    number = vocabulary.words.index("hôtel")
    offsets[number] += 2  # into the middle of the ô
    put(folder, "word_offsets", offsets)
    refused(folder, "words must be UTF-8")
