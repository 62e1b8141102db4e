import pytest

from deltavec.core.recipes import RECIPES
from deltavec.lab.report.figures import (
    are_numbered,
    drawing_style,
    power_of_ten,
    rescale,
    scores_against_k,
    weight_histograms,
)
from deltavec.lab.results import Problem, Results


def results(*names):
    problems = tuple(
        Problem(name, dict.fromkeys(RECIPES, 0.6 + place / 100) | {"tf-idf": 0.7})
        for place, name in enumerate(names)
    )
    return Results("reviews", "ROC AUC", problems, {}, {})


def test_only_problems_named_by_numbers_make_lines():
    assert are_numbered([Problem("1", {}), Problem("20", {})])
    assert not are_numbered([Problem("1", {})])
    assert not are_numbered([Problem("1", {}), Problem("1", {})])
    assert not are_numbered([Problem("1", {}), Problem("nan", {})])


def test_every_method_is_in_the_legend_of_one_panel():
    with drawing_style():
        figure = scores_against_k(results("10", "2"))
    for name in (*RECIPES, "tf-idf"):
        assert figure.svg.count(f">{name}</text>") == 1


def test_idf_is_scaled_from_0_to_1():
    assert rescale([3.0, 5.0, 4.0]) == [0.0, 1.0, 0.5]
    assert rescale([2.0, 2.0]) == [0.0, 0.0]


def test_decades_are_written_with_raised_digits():
    assert power_of_ten(1e-12) == "10⁻¹²"


@pytest.mark.parametrize("step", [0.01, 0.0])
def test_histograms_tell_on_how_many_problems_idf_is_ahead(step):
    problems = [
        Problem(str(k), {"idf-sum": 0.7, "sif-sum": 0.7 - step * (k - 1)}) for k in range(4)
    ]
    assert f"idf ahead on {2 if step else 0} of 4" in weight_histograms("ROC AUC", problems).svg


def test_without_pairs_of_weights_there_is_no_histogram():
    assert weight_histograms("ROC AUC", [Problem("1", {"idf-sum": 0.7})]) is None
