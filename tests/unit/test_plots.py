import xml.etree.ElementTree as ElementTree

import pytest

from deltavec.evaluation import plots
from deltavec.evaluation.plots import Axis, Panel


def test_an_axis_puts_its_ends_where_they_belong():
    axis = Axis(0.5, 0.99, 300, 20, plots.nines)
    assert axis.at(0.5) == 300
    assert axis.at(0.99) == pytest.approx(20)
    assert 20 < axis.at(0.9) < 300


def test_as_much_room_from_nine_tenths_to_ninety_nine_as_below():
    assert plots.nines(0.99) - plots.nines(0.9) == pytest.approx(plots.nines(0.9) - plots.nines(0))


def test_a_perfect_score_has_a_place():
    assert plots.nines(1.0) == pytest.approx(4)


def test_an_axis_of_one_value_has_its_middle():
    assert Axis(3, 3, 0, 10).at(3) == 5


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.31, 0.68, [0.3, 0.4, 0.5, 0.6, 0.7]),
        (0, 40, [0, 10, 20, 30, 40]),
        (-0.013, 0.021, [-0.02, -0.01, 0, 0.01, 0.02, 0.03]),
        (2, 2, [2]),
    ],
)
def test_ticks_are_round_and_go_around_the_values(low, high, ticks):
    assert plots.round_steps(low, high) == pytest.approx(ticks)


def test_ticks_of_shares_go_around_the_values():
    assert plots.nines_around(0.72, 0.985) == [0.7, 0.8, 0.9, 0.95, 0.98, 0.99]
    assert plots.nines_around(0.5, 0.5) == [0.5, 0.6]
    assert plots.nines_around(1.0, 1.0)[-1] == 0.9999


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.95, ".95"), (10, "10"), (0, "0"), (1, "1"), (-0.5, "-.5"), (0.605, ".605")],
)
def test_numbers_are_short(value, shown):
    assert plots.number(value) == shown


def test_labels_that_collide_move_apart_and_keep_their_order():
    places = plots.spread([50, 51, 52, 200], 14, 0, 300)
    assert places == [37, 51, 65, 200]


def test_labels_stay_inside():
    assert plots.spread([298, 299, 300], 10, 0, 300) == [280, 290, 300]
    assert plots.spread([0, 1], 10, 0, 300) == [0, 10]


def test_labels_far_apart_stay_where_they_are():
    assert plots.spread([200, 10, 100], 14, 0, 300) == [200, 10, 100]


def test_a_panel_is_well_formed_whatever_its_texts_hold():
    hostile = "<script>&\"'\x00\x1b"
    marks = plots.text(1, 2, hostile) + plots.dot((1, 2), 3, "c0", hostile)
    root = ElementTree.fromstring(Panel(hostile, 10, 10, marks).svg())
    assert root.find("text").text == "<script>&\"'\ufffd\ufffd"
    assert root.get("aria-label").startswith("<script>")


def test_a_long_name_is_cut():
    assert plots.shortened("a" * 40) == "a" * 25 + "…"
    assert plots.shortened("idf-delta-pca") == "idf-delta-pca"
