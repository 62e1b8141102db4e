"""Recipes in files: written whole, read back, and looked at."""

import json
from dataclasses import replace

import pytest

import deltavec as dv
from deltavec.errors import RecipeError
from deltavec.io.artifacts.model import FORMAT, load_recipe, save_recipe

SPECTRAL = dv.Recipe.named("spectral")


def written(path, **changes):
    entries = {"format": FORMAT, "format_version": 1, "recipe": {"form": "delta"}} | changes
    path.write_text(json.dumps(entries))
    return path


@pytest.mark.parametrize(
    "recipe",
    [
        SPECTRAL,
        replace(SPECTRAL, window=7, spectrum_exponent=0.5, identity_share=0.0, dimensions=40),
        dv.Recipe.named("idf-center-pca"),
        dv.Recipe(weighting="sif", form="sum", n_components_removed=2, a=0.01),
    ],
)
def test_a_recipe_comes_back_as_it_was(tmp_path, recipe):
    save_recipe(recipe, tmp_path / "recipe.json", vectors="glove.txt", about={"why": "tried"})
    assert load_recipe(tmp_path / "recipe.json") == (recipe, "glove.txt")


def test_entries_that_are_not_there_have_their_defaults(tmp_path):
    stored = load_recipe(written(tmp_path / "recipe.json"))
    assert stored == (dv.Recipe(form="delta"), None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "else"}, 'expected a JSON object with "format": "deltavec recipe"'),
        ({"format_version": 2}, "expected version 1, got 2: upgrade deltavec"),
        ({"recipe": []}, "recipe must be an object"),
        ({"recipe": {"color": 1}}, "a recipe has no 'color'; it has weighting, form"),
        ({"recipe": {"form": "mean"}}, "form must be"),
        (
            {"recipe": {"form": "spectral", "dimensions": "many"}},
            "dimensions must be a whole number",
        ),
        ({"vectors": 7}, "vectors must be a string"),
    ],
)
def test_an_odd_file_is_refused_by_name(tmp_path, changes, message):
    path = written(tmp_path / "recipe.json", **changes)
    with pytest.raises(RecipeError, match=message) as caught:
        load_recipe(path)
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"[" * 100_000, b"[1]", b"{" + b" " * (1 << 20)]
)
def test_what_is_no_recipe_is_refused(tmp_path, content):
    (tmp_path / "recipe.json").write_bytes(content)
    with pytest.raises(RecipeError, match="expected"):
        load_recipe(tmp_path / "recipe.json")
