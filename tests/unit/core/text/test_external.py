"""Tokenizers of others by their names: resolved where they are named, never by loading alone."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import deltavec as dv
from deltavec.core.text.batches import resolve_tokenizer
from deltavec.core.text.external import NamedTokenizer, is_name, named_tokenizer

TEXTS = ["sea-room sea", "room-lamp", "lamp-sea room"] * 3
LEAST = dv.Recipe(form="spectral", dimensions=2)
DASHES = 'def cut(text):\n    return text.replace("-", " ").split()\n'


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path of Python, with a module that parts text at dashes."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "dashes.py").write_text(DASHES)
    return tmp_path


@pytest.mark.parametrize("name", ["jieba", "sudachi", "spacy:ja", "my.module:cut", "a:b.c"])
def test_names_of_tokenizers_of_others(name: str) -> None:
    assert is_name(name)


@pytest.mark.parametrize(
    "name", ["words", "whitespace", "words:grams-4", "words:cut", "spacy", "a", "a:", "1:b", ":"]
)
def test_other_names_are_not(name: str) -> None:
    assert not is_name(name)


def test_a_function_is_found_by_its_module_and_name(modules: Path) -> None:
    found = resolve_tokenizer("dashes:cut")
    assert isinstance(found, NamedTokenizer)
    assert found("a-b c") == ["a", "b", "c"]
    assert str(found) == "dashes:cut"  # it is in no package, so there is no version


def test_the_version_of_the_package_is_kept() -> None:
    found = named_tokenizer("numpy:char.split")
    assert str(found) == f"numpy:char.split {np.__version__}"


def test_a_module_or_function_that_is_missing_is_told(modules: Path) -> None:
    with pytest.raises(dv.MissingDependencyError, match=r"needs the module 'not_there'.*install"):
        dv.fit(TEXTS, tokenizer="not_there.at_all:cut")
    with pytest.raises(dv.InputError, match="dashes has no function 'slice'"):
        dv.fit(TEXTS, tokenizer="dashes:slice")


JIEBA = "def lcut(text): return text.split()"
SUDACHI = """
class Part(str):
    surface = str.__str__
class Dictionary:
    def create(self): return self
    def tokenize(self, text): return map(Part, text.split())
"""
SPACY = """
class Token:
    def __init__(self, text): self.text = text
class Language:
    def make_doc(self, text): return map(Token, text.split())
def blank(name): return {"xx": Language}[name]()
"""


@pytest.mark.parametrize(
    ("name", "module", "code"),
    [("jieba", "jieba", JIEBA), ("sudachi", "sudachipy", SUDACHI), ("spacy:xx", "spacy", SPACY)],
)
def test_libraries_are_asked_as_they_want_to_be(
    name: str, module: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, module, raising=False)
    (tmp_path / f"{module}.py").write_text(code)
    found = named_tokenizer(name)
    assert found("Das 漢字 , -") == ["das", "漢字"]
    assert pickle.loads(pickle.dumps(found))("A b") == ["a", "b"]
    monkeypatch.delitem(sys.modules, module)


def test_a_model_with_a_named_tokenizer_is_saved_and_loaded(modules: Path) -> None:
    model = dv.fit(TEXTS, recipe=LEAST, tokenizer="dashes:cut")
    assert model.vocabulary.words == ["room", "sea", "lamp"]
    model.save(modules / "m.dv")
    loaded = dv.load(modules / "m.dv", trust=True)
    assert np.array_equal(loaded.embed(TEXTS), model.embed(TEXTS))
    assert loaded.fingerprint == model.fingerprint
    assert loaded.info()["tokenizer"] == "dashes:cut"
    copied = pickle.loads(pickle.dumps(loaded))
    assert np.array_equal(copied.embed(TEXTS), model.embed(TEXTS))


def test_loading_imports_nothing_unless_it_is_trusted(modules: Path) -> None:
    dv.fit(TEXTS, recipe=LEAST, tokenizer="dashes:cut").save(modules / "m.dv")
    (modules / "dashes.py").write_text("raise SystemExit('imported')")
    sys.modules.pop("dashes")
    loaded = dv.load(modules / "m.dv")
    assert loaded.info()["tokenizer"] == "dashes:cut"
    assert loaded.embed([["sea", "room"]]).any()  # lists of words need no tokenizer
    with pytest.raises(dv.ModelError, match=r"is dashes:cut, .* trust=True \(--trust\)"):
        loaded.embed(["sea-room"])


def test_loading_says_what_is_missing(modules: Path) -> None:
    dv.fit(TEXTS, recipe=LEAST, tokenizer="dashes:cut").save(modules / "m.dv")
    (modules / "dashes.py").unlink()
    sys.modules.pop("dashes")
    with pytest.raises(dv.MissingDependencyError, match="'dashes:cut' needs the module 'dashes'"):
        dv.load(modules / "m.dv", trust=True)


def test_another_version_than_at_the_fit_is_told(modules: Path) -> None:
    from dataclasses import replace

    model = dv.fit(TEXTS, recipe=LEAST, tokenizer="dashes:cut")
    old = NamedTokenizer("dashes:cut", "0.9", model.tokenizer)  # type: ignore[arg-type]
    replace(model, tokenizer=old).save(modules / "m.dv")
    with pytest.warns(dv.OtherTokenizerWarning, match="fitted with dashes:cut 0.9, and dashes:cut"):
        dv.load(modules / "m.dv", trust=True)


@pytest.mark.parametrize("name", ["call:", "call:words@1", "call:a b:c@1"])
def test_a_description_that_names_no_tokenizer_is_refused(name: str) -> None:
    with pytest.raises(dv.ModelError, match="expected the name of a tokenizer"):
        NamedTokenizer.unresolved(name)
