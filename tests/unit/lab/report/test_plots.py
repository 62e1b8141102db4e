import re
import sys
import xml.etree.ElementTree as ElementTree

import pytest

from deltavec.errors import MissingDependencyError
from deltavec.lab.report import plots


def line(axes):
    axes.set_title('<script>&"$x^2$')
    axes.plot([0, 1], [0, 1], color=plots.colour("blue"))


def test_as_much_room_from_nine_tenths_to_ninety_nine_as_below():
    assert plots.nines(0.99) - plots.nines(0.9) == pytest.approx(plots.nines(0.9) - plots.nines(0))


def test_a_perfect_score_has_a_place():
    assert plots.nines(1.0) == pytest.approx(4)


def test_ticks_of_shares_go_around_the_values():
    assert plots.shares_around(0.72, 0.985) == [0.7, 0.8, 0.9, 0.95, 0.98, 0.99]
    assert plots.shares_around(0.5, 0.5) == [0.5, 0.6]
    assert plots.shares_around(1.0, 1.0)[-1] == 0.9999


def test_ticks_that_would_touch_are_left_out_from_the_highest_down():
    assert plots.apart([0.0, 0.1, 0.2, 0.9], room=50) == [0.9, 0.2]
    assert plots.apart([0.5, 0.9, 0.99], room=500) == [0.99, 0.9, 0.5]


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


def test_a_panel_is_the_same_every_time():
    assert plots.panel("a line", 300, 200, line) == plots.panel("a line", 300, 200, line)


def test_colours_follow_the_page_and_text_stays_text():
    panel = plots.panel("a line", 300, 200, line)
    assert "var(--blue)" in panel.marks
    assert not re.search("#[0-9a-f]{6}", panel.marks)
    root = ElementTree.fromstring(panel.svg(' xmlns:xlink="http://www.w3.org/1999/xlink"'))
    assert '<script>&"$x^2$' in [element.text for element in root.iter("text")]
    assert root.get("aria-label") == "a line"


def test_a_long_name_is_cut():
    assert plots.shortened("a" * 40) == "a" * 25 + "…"
    assert plots.shortened("idf-delta-pca") == "idf-delta-pca"
    assert plots.shortened("a\x00") == "a\ufffd"


def test_without_matplotlib_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'deltavec\[plots\]'"):
        plots.require_matplotlib()
