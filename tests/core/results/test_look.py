"""The style of plots: sizes that fit each other, and which background is dark."""

import pytest

from gnomon.core.results.look import COLORS, DARK, LIGHT, is_dark, matplotlib_settings


@pytest.mark.parametrize("dark", [False, True])
def test_text_is_read_and_lines_stand_out(dark):
    found = matplotlib_settings(dark=dark)
    assert 10 <= found["font.size"] <= found["axes.titlesize"] <= 12
    assert 2 * found["axes.linewidth"] < found["lines.linewidth"] < 4 * found["axes.linewidth"]
    assert found["grid.linewidth"] < found["axes.linewidth"] and 2 < found["lines.markersize"] / 2.0 < 4
    assert found["figure.figsize"] == (7.0, 4.2) and found["text.color"] == (DARK if dark else LIGHT)["text"]
    assert len(set(COLORS)) == len(found["axes.prop_cycle"]) == 5


@pytest.mark.parametrize(
    ("color", "dark"),
    [((0.49,) * 3, True), ((0.51,) * 3, False), ("lime", False), ("red", True), ("blue", True), ((0, 0.68, 0.5), False),
     ((0, 0.64, 0.5), True), ((0.7, 0.5, 0), False), ((0.6, 0.5, 0), True)],
)  # fmt: skip
def test_a_color_is_dark_if_its_luminance_is_below_one_half(color, dark):
    """A fifth of red, seven tenths of green and seven hundredths of blue."""
    assert is_dark(color) is dark
