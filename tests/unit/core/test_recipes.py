import dataclasses

import numpy as np
import pytest

from deltavec.core.recipes import RECIPES, Recipe, settled
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
    choice = settled(Recipe.named(name), statistics(length))
    assert choice.recipe.name == chosen
    assert f"{length:.1f} known words on average" in choice.reason


def test_a_form_that_was_named_is_kept():
    recipe = Recipe.named("sif-center")
    assert settled(recipe, statistics(1000)) == (recipe, "as asked for")


def test_parameters_reach_the_weights():
    rare = CorpusStatistics(np.array([1, 9]), np.array([1, 1]), 2, 10, 0)
    assert Recipe(weighting="sif", a=0.1).weights(rare).tolist() == pytest.approx([0.5, 0.1])
    assert Recipe(weighting="subsampling", t=0.1).weights(rare)[1] == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"form": "mean"},
            "form must be 'sum', 'center', 'delta', 'auto' or 'spectral', got 'mean'",
        ),
        ({"weighting": "bm25"}, "weighting must be 'unit', 'idf', 'sif' or 'subsampling'"),
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
