"""The drawing of a claim: where its dots are, when axes are logarithmic, and how much room the control gets."""

import re

import pytest

from gnomon.atlas.pages import figure
from gnomon.atlas.pages.figure import ChartView, _Scale, chart_over_parameter, figure_svg

VIEW = ChartView("width", "error")


def dots(picture, name):
    found = re.findall(rf'<circle class="{name}" cx="([\d.-]+)" cy="([\d.-]+)"', picture)
    return [(float(x), float(y)) for x, y in found]


def test_dots_are_at_their_numbers():
    picture = figure_svg({"x": [0, 5, 10], "o": [1.0, 2.0, 3.0], "p": [1, 2, 3]}, VIEW)
    (x0, y0), (x1, y1), (x2, y2) = dots(picture, "measured")
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2) and y0 - y1 == pytest.approx(y1 - y2, abs=0.2)
    assert (
        figure.SPACE_LEFT < x0 < x2 < figure.PICTURE_WIDTH - figure.SPACE_RIGHT
        and figure.SPACE_TOP < y2 < y0 < figure.PICTURE_HEIGHT - figure.SPACE_BOTTOM
    )
    line = re.search(r'polyline class="theory" points="([^"]+)"', picture)[1]
    assert line.split() == [f"{x:.1f},{y:.1f}" for x, y in ((x0, y0), (x1, y1), (x2, y2))]


def test_numbers_that_differ_much_get_a_logarithmic_axis():
    (_, a), (_, b), (_, c) = dots(figure_svg({"x": [1, 2, 3], "o": [0.01, 1.0, 100.0]}, VIEW), "measured")
    assert a - b == pytest.approx(b - c, abs=0.2)  # equal factors, equal distances
    assert "10⁻" not in figure_svg({"x": [1, 2, 3], "o": [1.0, 2.0, 3.0]}, VIEW)


def test_intervals_are_drawn_and_missing_numbers_left_out():
    picture = figure_svg({"x": [1, 2], "o": [1.0, None], "a": [0.5, None], "b": [1.5, None], "p": [1, 1]}, VIEW)
    assert len(dots(picture, "measured")) == 1 and picture.count('class="interval"') == 1


def test_a_far_control_is_clipped_until_it_is_asked_for():
    chart = {"x": [1, 2], "o": [1.0, 2.0], "p": [1, 2], "c": [-1000.0, -1000.0]}
    outside = dots(figure_svg(chart, VIEW), "broken")
    inside = dots(figure_svg(chart, VIEW, control=True), "broken")
    assert all(y > figure.PICTURE_HEIGHT for _, y in outside) and all(
        figure.SPACE_TOP < y < figure.PICTURE_HEIGHT - figure.SPACE_BOTTOM for _, y in inside
    )
    near = dots(figure_svg(chart | {"c": [2.5, 2.5]}, VIEW), "broken")
    assert all(figure.SPACE_TOP < y < figure.PICTURE_HEIGHT - figure.SPACE_BOTTOM for _, y in near)


def test_cases_are_counted_from_one_with_dashes_for_the_theory():
    picture = figure_svg({"x": [0, 1], "o": [3.0, 4.0], "p": [3, 4]}, ChartView("data set", "updates", numbered=True))
    assert picture.count('<line class="theory"') == 2 and ">1</text>" in picture and ">0</text>" not in picture


def test_single_numbers_are_drawn_over_the_parameter():
    points = [{"x": [0], "o": [float(i)], "p": [i], "c": [9]} for i in range(6)]
    grid = {"values": [[1, 2, 3], [10, 20]], "points": points}
    assert chart_over_parameter(grid, 1) == {"x": [1, 2, 3], "o": [1.0, 3.0, 5.0], "p": [1, 3, 5], "c": [9, 9, 9]}
    assert chart_over_parameter({"values": [[1]], "points": [{"x": [0, 1], "o": [1, 2]}]}) is None
    assert figure_svg(chart_over_parameter(grid, 1), VIEW, marked=2).count('class="ring"') == 1


def test_bars_have_lengths_in_proportion():
    picture = figure_svg({"l": ["a", "b"], "o": [1.0, 3.0], "c": [3.0, 1.0]}, VIEW)
    widths = [float(w) for w in re.findall(r'<rect class="measured"[^>]* width="([\d.]+)"', picture)]
    assert widths[1] == pytest.approx(3 * widths[0], rel=0.02)


def test_a_bar_of_a_far_control_is_cut_and_has_its_number():
    bars = re.compile(r'<rect class="(\w+)"[^>]* width="([\d.]+)"')
    picture = figure_svg({"l": ["a", "b"], "o": [1.0, 2.0], "c": [4000.0, 5.0]}, VIEW)
    widths = [float(width) for _, width in bars.findall(picture)]
    assert widths[1] == pytest.approx(6 * widths[0], rel=0.02) and widths[3] == pytest.approx(5 * widths[0], rel=0.02)
    assert "… 4,000" in picture and "… 5" not in picture


@pytest.mark.parametrize(
    "values, log", [([0.0, 1.0], False), ([3.2, 3.9], False), ([1e-8, 1.0], True), ([2.0, 9.0], True)]
)
def test_ticks_are_few_and_inside(values, log):
    scale = _Scale(values, (0.0, 100.0), log)
    assert 2 <= len(scale.ticks()) <= 9 and all(-1 <= scale(tick) <= 101 for tick in scale.ticks())


def test_labels_are_escaped_and_cut():
    picture = figure_svg({"x": [1, 2], "o": [1, 2]}, ChartView("a < b & c", "y" * 100))
    assert "a &lt; b &amp; c" in picture and "…" in picture and "y" * 61 not in picture.partition(">")[2]
