import pytest

from deltavec.core.recipes import RECIPES
from deltavec.lab.report.figures import (
    are_numbered,
    leader,
    power_of_ten,
    scaled,
    scores_against_k,
    scores_by_method,
    series,
    weight_histograms,
)
from deltavec.lab.results import Problem, Results


def results(*names):
    problems = tuple(
        Problem(name, dict.fromkeys(RECIPES, 0.6 + place / 100) | {"tf-idf": 0.7})
        for place, name in enumerate(names)
    )
    return Results("reviews", "ROC AUC", problems, {}, {})


def test_problems_named_by_numbers_make_lines_and_others_strips():
    assert are_numbered([Problem("1", {}), Problem("20", {})])
    assert not are_numbered([Problem("1", {})])
    assert not are_numbered([Problem("1", {}), Problem("1", {})])
    assert not are_numbered([Problem("1", {}), Problem("nan", {})])


def test_lines_go_by_k_and_not_by_name():
    problems = [Problem("10", {"a": 0.9}), Problem("2", {"a": 0.8}), Problem("3", {})]
    line = series(problems, "a")
    assert (line.ks, line.scores) == ((2.0, 10.0), (0.8, 0.9))


def test_every_method_is_labelled_in_one_panel():
    figure = scores_against_k(results("1", "2"))
    assert len(figure.panels) == 4
    for name in (*RECIPES, "tf-idf"):
        assert any(f">{name}</text>" in panel.marks for panel in figure.panels)


def test_the_leader_is_best_on_most_problems():
    problems = [
        Problem("1", {"a": 0.9, "b": 0.8}),
        Problem("2", {"a": 0.8, "b": 0.9}),
        Problem("3", {"a": 0.8, "b": 0.9}),
    ]
    assert leader(problems, ["a", "b"]) == "b"
    assert leader([], ["a", "b"]) is None


def test_few_forums_are_named_by_colour_and_many_are_not():
    few = scores_by_method(results(*"pqr"), {"people": 0.65}).panels[0].marks
    many = scores_by_method(results(*"pqrstu"), {}).panels[0].marks
    assert ">q</text>" in few
    assert ">people .65</text>" in few
    assert ">q</text>" not in many


def test_idf_is_scaled_from_0_to_1():
    assert scaled([3.0, 5.0, 4.0]) == [0.0, 1.0, 0.5]
    assert scaled([2.0, 2.0]) == [0.0, 0.0]


def test_decades_are_written_with_raised_digits():
    assert power_of_ten(1e-12) == "10⁻¹²"


@pytest.mark.parametrize("step", [0.01, 0.0])
def test_histograms_tell_on_how_many_problems_idf_is_ahead(step):
    problems = [
        Problem(str(k), {"idf-sum": 0.7, "sif-sum": 0.7 - step * (k - 1)}) for k in range(4)
    ]
    (panel,) = weight_histograms("ROC AUC", problems).panels
    assert f"idf ahead on {2 if step else 0} of 4" in panel.marks


def test_without_pairs_of_weights_there_is_no_histogram():
    assert weight_histograms("ROC AUC", [Problem("1", {"idf-sum": 0.7})]) is None
