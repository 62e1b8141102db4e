import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from deltavec.errors import MissingDependencyError
from deltavec.lab.report import figures as drawing


def line(title="a line"):
    with drawing.drawing_style():
        canvas, (axes,) = drawing.new_canvas(1)
        axes.set_title(title)
        axes.plot([0, 1], [0, 1])
        return drawing.finish(canvas, "line", title, "")


def test_as_much_room_from_nine_tenths_to_ninety_nine_as_below():
    low, middle, high = drawing.log_distance(np.array([0.0, 0.9, 0.99]))
    assert high - middle == pytest.approx(middle - low)


def test_a_perfect_score_has_a_place():
    assert drawing.log_distance(np.array([1.0])) == pytest.approx([4])


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.72, 0.985, ["0.7", "0.8", "0.9", "0.95", "0.98", "0.99"]),
        (0.5, 0.5, ["0.5", "0.7"]),
        (1.0, 1.0, ["0.999", "0.9999"]),
    ],
)
def test_ticks_go_around_the_values(low, high, ticks):
    _, (axes,) = drawing.new_canvas(1)
    drawing.scale_areas(axes, low, high)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ticks


def test_panels_are_two_in_a_row():
    _, panels = drawing.new_canvas(3)
    assert len(panels) == 3
    assert len({panel.get_subplotspec().rowspan.start for panel in panels}) == 2


def test_a_figure_is_the_same_every_time():
    assert line() == line()


def test_text_stays_text():
    title = '<script>&"$x^2$'
    root = ElementTree.fromstring(line(title).svg)
    assert title in [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_without_matplotlib_one_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependencyError, match=r"pip install 'deltavec\[lab\]'"):
        drawing.require_matplotlib()
