"""Save then load is identity; damage is always noticed; a stranger's file is never believed."""

import hashlib
import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import deltavec as dv
from deltavec.io.artifacts.manifest import with_checksum
from deltavec.io.artifacts.model import FILES, arrays_of
from support.strategies import Problem, problems

TEXTS = ["The room was clean", "pool", "the sea, the sea", ""]


def small_model(recipe: str = "idf-delta-pca") -> dv.EmbeddingModel:
    words = ["the", "room", "clean", "sea", "hôtel", "pool"]
    matrix = np.random.default_rng(3).standard_normal((len(words), 3))
    return dv.fit([*TEXTS, "hôtel, hôtel"], dv.WordVectors(words, matrix), recipe)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The two files of a model."""
    folder = tmp_path_factory.mktemp("saved") / "m.dv"
    small_model("idf-center-pca").save(folder)
    return {name: (folder / name).read_bytes() for name in FILES}


def loaded(files: dict[str, bytes], *, verify: bool = True) -> dv.EmbeddingModel:
    """The model in these files."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        return dv.load(folder, verify=verify)


def same(a: dv.EmbeddingModel, b: dv.EmbeddingModel) -> bool:
    """Whether two models are the same, bit for bit."""
    ours, theirs = arrays_of(a), arrays_of(b)
    return (
        a.info() == b.info()
        and a.recipe == b.recipe
        and a.statistics.unknown_documents == b.statistics.unknown_documents
        and all(
            ours[name].dtype == theirs[name].dtype
            and ours[name].shape == theirs[name].shape
            and ours[name].tobytes() == theirs[name].tobytes()
            for name in ours
        )
    )


def fitted(problem: Problem, recipe: dv.Recipe, tokenizer: str) -> dv.EmbeddingModel:
    vectors = dv.WordVectors(problem.words, problem.matrix)
    try:
        return dv.fit(problem.corpus, vectors, recipe, tokenizer=tokenizer)
    except dv.CorpusError:  # no known words: nothing to save
        assume(False)
        raise


@st.composite
def recipes(draw: st.DrawFn) -> dv.Recipe:
    return dv.Recipe(
        weighting=draw(st.sampled_from(["unit", "idf", "sif", "subsampling"])),
        form=draw(st.sampled_from(["sum", "center", "delta"])),
        n_components_removed=draw(st.integers(0, 3)),
        a=draw(st.floats(1e-12, 1e3)),
        t=draw(st.floats(1e-12, 1e3)),
        min_frequency=draw(st.floats(0, 1)),
    )


@given(problems(), recipes(), st.sampled_from(["words", "whitespace"]), st.booleans())
def test_save_then_load_is_identity(problem, recipe, tokenizer, verify):
    model = fitted(problem, recipe, tokenizer)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder) / "m.dv")
        again = dv.load(Path(folder) / "m.dv", verify=verify)
        assert same(again, model)
        ours, theirs = model.embed(problem.texts), again.embed(problem.texts)
        assert ours.tobytes() == theirs.tobytes()
        # and saving what was loaded changes no byte of the files
        again.save(Path(folder) / "again.dv")
        for name in FILES:
            before = (Path(folder) / "m.dv" / name).read_bytes()
            assert (Path(folder) / "again.dv" / name).read_bytes() == before


@given(st.sampled_from(FILES), st.data())
def test_a_changed_byte_anywhere_is_noticed(saved, name, data):
    content = bytearray(saved[name])
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(dv.ModelError):
        loaded({**saved, name: bytes(content)})


@pytest.mark.compiled  # thousands of loads
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("bit", [0, 7])
def test_every_single_byte_counts(saved, name, bit, tmp_path):
    for other in FILES:
        (tmp_path / other).write_bytes(saved[other])
    for place in range(len(saved[name])):
        content = bytearray(saved[name])
        content[place] ^= 1 << bit
        (tmp_path / name).write_bytes(content)
        with pytest.raises(dv.ModelError):
            dv.load(tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_at_any_place_is_noticed_even_without_verifying(saved, name, tmp_path):
    for other in FILES:
        (tmp_path / other).write_bytes(saved[other])
    for length in range(len(saved[name])):
        (tmp_path / name).write_bytes(saved[name][:length])
        with pytest.raises(dv.ModelError):
            dv.load(tmp_path, verify=False)


@given(st.sampled_from(FILES), st.binary(min_size=1, max_size=20), st.data())
def test_bytes_put_in_anywhere_are_noticed_even_without_verifying(saved, name, more, data):
    place = data.draw(st.integers(0, len(saved[name])))
    content = saved[name][:place] + more + saved[name][place:]
    with pytest.raises(dv.ModelError):
        loaded({**saved, name: content}, verify=False)


@given(st.sampled_from(FILES), st.binary(max_size=300))
def test_any_other_bytes_are_refused(saved, name, content):
    with pytest.raises(dv.ModelError):
        loaded({**saved, name: content}, verify=False)


def believed_or_refused(files: dict[str, bytes], verify: bool = True) -> None:
    """A stranger's files give a model whose vectors are finite, or a `ModelError`."""
    try:
        model = loaded(files, verify=verify)
    except dv.ModelError as error:
        assert "\n" not in str(error)  # noqa: PT017
        return
    vectors = model.embed(TEXTS)
    assert np.isfinite(vectors).all() or not verify
    assert model.info()["words"] == len(model.vocabulary.words)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(["words", "whitespace", "auto", "sum", "delta", 1, 2, 3, 6, 0.0]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.data())
def test_any_entry_may_be_anything_with_the_right_checksum(saved, data):
    entries = json.loads(saved["model.json"])
    del entries["checksum"]
    part = data.draw(st.sampled_from([entries, entries["recipe"], entries["notes"]]))
    for key in data.draw(st.lists(st.sampled_from([*part, "other"]), min_size=1, max_size=3)):
        if key in part and data.draw(st.booleans()):
            del part[key]
        else:
            part[key] = data.draw(json_values)
    believed_or_refused({**saved, "model.json": with_checksum(entries)})


@given(st.data(), st.booleans())
def test_any_array_may_hold_anything_with_the_right_checksum(saved, data, verify):
    tensors = bytearray(saved["model.safetensors"])
    start = 8 + int.from_bytes(tensors[:8], "little")
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(start // 8, len(tensors) // 8 - 1)) * 8
        value = data.draw(
            st.one_of(
                st.integers(-9, 9).map(lambda number: np.int64(number).tobytes()),
                st.floats().map(lambda number: np.float64(number).tobytes()),
                st.binary(min_size=8, max_size=8),
            )
        )
        tensors[place : place + 8] = value
    entries = json.loads(saved["model.json"])
    del entries["checksum"]
    entries["tensor_sha256"] = hashlib.sha256(tensors).hexdigest()
    believed_or_refused(
        {"model.safetensors": bytes(tensors), "model.json": with_checksum(entries)}, verify
    )
