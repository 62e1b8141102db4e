import dataclasses
import pickle

import numpy as np
import pytest

from deltavec.core import forms, weights
from deltavec.core.recipes import (
    DEFAULTS,
    FORMS,
    PARAMETERS,
    RECIPES,
    WEIGHTINGS,
    Recipe,
    resolve,
)
from deltavec.core.statistics import CorpusStatistics
from deltavec.errors import RecipeError


def statistics(mean_length, documents=10):
    tokens = int(mean_length * documents)
    return CorpusStatistics(np.array([tokens]), np.array([documents]), documents, tokens, 0)


def test_there_are_eighteen_variants_and_the_baseline():
    assert len(RECIPES) == len(set(RECIPES)) == 19
    assert "subsampling-center-pca" in RECIPES


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_has_the_name_it_was_asked_for_by(name):
    assert Recipe.named(name).name == name


def test_a_recipe_stands_for_itself():
    recipe = Recipe(form="center", n_components_removed=3)
    assert Recipe.of(recipe) is recipe
    assert Recipe.of("idf-delta-pca") == Recipe()


@pytest.mark.parametrize(
    ("name", "length", "chosen"),
    [
        ("auto", 299.9, "idf-sum-pca"),
        ("auto", 300, "idf-delta-pca"),
        ("idf-auto", 449.9, "idf-center"),
        ("idf-auto", 450, "idf-delta"),
    ],
)
def test_auto_follows_the_length_of_documents(name, length, chosen):
    choice = resolve(Recipe.named(name), statistics(length))
    assert choice.recipe.name == chosen
    assert f"{length:.1f} known words on average" in choice.reason


def test_a_form_that_was_named_is_kept():
    recipe = Recipe.named("sif-center")
    assert resolve(recipe, statistics(1000)) == (recipe, "as asked for")


@pytest.mark.parametrize(
    ("name", "end"),
    [
        ("idf-dleta", "got 'idf-dleta'; did you mean 'idf-delta'?"),
        ("spectrl", "got 'spectrl'; did you mean 'spectral'?"),
        ("xyz", "got 'xyz'"),
        (3, "got 3"),
    ],
)
def test_an_unknown_name_gets_a_suggestion_only_if_one_is_near(name, end):
    with pytest.raises(RecipeError) as raised:
        Recipe.named(name)
    assert str(raised.value).endswith(end)


def test_parameters_reach_the_weights():
    rare = CorpusStatistics(np.array([1, 9]), np.array([1, 1]), 2, 10, 0)
    assert Recipe(weighting="sif", a=0.1).weights(rare).tolist() == pytest.approx([0.5, 0.1])
    assert Recipe(weighting="subsampling", t=0.1).weights(rare)[1] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"form": "mean"},
            "form must be one of sum, center, delta, auto, spectral, got 'mean'",
        ),
        ({"weighting": "bm25"}, "weighting must be one of unit, idf, sif, subsampling, got 'bm25'"),
        ({"weighting": "sif", "form": "auto"}, "'auto' follows findings for the weighting 'idf'"),
        ({"n_components_removed": -1}, "whole number from 0 on, got -1"),
        ({"n_components_removed": True}, "whole number from 0 on, got True"),
        ({"n_components_removed": 1.5}, "whole number from 0 on, got 1.5"),
        ({"a": 0}, "a must be a number above 0, got 0"),
        ({"t": "x"}, "t must be a number above 0, got 'x'"),
        ({"a": float("inf")}, "a must be a number above 0, got inf"),
        ({"t": float("nan")}, "t must be a number above 0"),
        ({"min_frequency": 2}, "min_frequency must be a number from 0 to 1, got 2"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(RecipeError, match=message):
        Recipe(**parameters)


@pytest.mark.parametrize("name", ["tfidf", "idf", "idf-delta-svd", "idf-mean", "sif-auto", None])
def test_an_unknown_name_is_refused_with_the_list(name):
    with pytest.raises(
        RecipeError, match=r"must be 'auto', 'spectral' or one of unit-sum|'auto' follows"
    ):
        Recipe.of(name)


def test_a_recipe_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Recipe().form = "sum"


def test_the_form_says_which_kind_of_recipe_it_is():
    learned, weighted = Recipe(form="spectral", dimensions=7), Recipe("sif", "sum", 2, a=0.5)
    assert (learned.needs_vectors, weighted.needs_vectors) == (False, True)
    assert Recipe.named("spectral") == Recipe(form="spectral")


@pytest.mark.parametrize("recipe", [Recipe(form="spectral", window=7), Recipe("sif", "sum", 2)])
def test_a_recipe_prints_as_what_makes_it(recipe):
    values = repr(recipe).removeprefix("Recipe(").removesuffix(")").split(", ")
    named = ("weighting", "form", "n_components_removed", *recipe.parameters)
    assert values == [f"{name}={getattr(recipe, name)!r}" for name in named]
    assert pickle.loads(pickle.dumps(recipe)) == recipe


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"form": "spectral", "a": 0.1}, "spectral recipes have no parameter 'a'; they have wei"),
        ({"color": 1}, "recipes of word vectors have no parameter 'color'; they have weighting"),
        ({"dimensions": 9}, "recipes of word vectors have no parameter 'dimensions'; they have"),
    ],
)
def test_a_parameter_of_the_other_kind_is_refused(parameters, message):
    with pytest.raises(RecipeError, match=message):
        Recipe(**parameters)


def test_all_parameters_may_be_said_if_those_of_the_other_kind_change_nothing():
    for recipe in (Recipe(form="spectral", window=7), Recipe("sif", "sum", 2)):
        assert Recipe(**recipe.entries) == recipe


def test_a_recipe_changes_its_parameters_but_not_its_kind():
    assert dataclasses.replace(Recipe(), a=0.5) == Recipe(a=0.5)
    assert dataclasses.replace(Recipe(form="spectral"), window=9).window == 9
    with pytest.raises(RecipeError, match="have no parameter 'window'"):
        dataclasses.replace(Recipe(), window=9)
    with pytest.raises(RecipeError, match="spectral has its own weights and removes nothing"):
        dataclasses.replace(Recipe(), form="spectral")
    with pytest.raises(RecipeError, match="have no parameter 'dimensions'"):
        dataclasses.replace(Recipe(form="spectral", dimensions=7), form="sum")


def test_what_is_stored_has_the_parameters_of_both_kinds():
    recipe = Recipe(form="spectral", dimensions=7)
    assert recipe.entries["a"] == Recipe().a
    assert list(recipe.entries) == list(Recipe().entries) == list(DEFAULTS)
    assert Recipe.stored(recipe.entries) == recipe
    assert Recipe.stored({"weighting": "sif", "dimensions": 7}) == Recipe("sif")
    assert Recipe.stored({"form": "spectral"}) == Recipe(form="spectral")


def test_every_name_has_a_function():
    assert (*WEIGHTINGS,) == (*weights.WEIGHTINGS,)
    assert (*FORMS,) == (*forms.FORMS,)


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_parameter_is_declared_with_its_range_and_a_sentence(name):
    declared = PARAMETERS[name]
    assert declared.help.endswith(".")
    assert declared.help in Recipe.__doc__
    if DEFAULTS[name] is not None:
        declared.values.require(name, DEFAULTS[name])
    with pytest.raises(RecipeError, match=f"{name} must be a {declared.values.words}, got -1"):
        declared.values.require(name, -1)
