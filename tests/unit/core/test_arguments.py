import numpy as np
import pytest

from deltavec.core.arguments import did_you_mean, require_one_of, require_whole
from deltavec.errors import InputError, RecipeError


@pytest.mark.parametrize("value", [1, 7, np.int32(2)])
def test_whole_numbers_are_taken(value):
    require_whole("k", value)


@pytest.mark.parametrize("value", [0, -1, 1.0, "1", True, None])
def test_what_is_no_whole_number_from_one_on_is_refused(value):
    with pytest.raises(InputError, match=r"k must be a whole number from 1 on, got"):
        require_whole("k", value)


def test_the_least_number_and_the_error_can_be_named():
    with pytest.raises(RecipeError, match="seed must be a whole number from 0 on, got -1"):
        require_whole("seed", -1, 0, RecipeError)


def test_a_name_must_be_one_of_those_listed():
    require_one_of("form", "sum", ("sum", "delta"))
    with pytest.raises(InputError, match="form must be one of sum, delta, got 'mean'"):
        require_one_of("form", "mean", ("sum", "delta"))


def test_the_closest_name_is_suggested_if_there_is_a_close_one():
    assert did_you_mean("ratin", ["id", "rating"]) == "; did you mean 'rating'?"
    assert did_you_mean("x", ["id", "rating"]) == ""
    assert did_you_mean("Review Text", ["date", "rating"]) == ""
    assert did_you_mean("text", ["date", "rating"]) == ""


def test_capitals_and_what_joins_words_make_no_name_distant():
    names = ["date", "Review Text", "REVIEW_TEXT"]
    assert did_you_mean("review-text", names) == "; did you mean 'Review Text'?"
