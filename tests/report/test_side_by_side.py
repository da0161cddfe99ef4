"""Plots of two reports on the same axes."""

from gnomon.core.results import Axis, Line, Plot, Scatter
from gnomon.report.side_by_side import overlay_plots

NAMES = ("A", "B")


def losses(seconds, last, caption="Measured."):
    marks = Scatter("measured, training", (1, 2), (1.0, last)), Scatter("measured, test", (1, 2), (1.1, last + 0.1))
    return Plot("Loss", marks, Axis("step", log=True, other_unit=("seconds", seconds)), Axis("loss"), caption, "loss")


def test_runs_of_different_speed_share_their_axes_and_points_stay_points():
    both = overlay_plots(losses(0.1, 0.5), losses(0.3, 0.2), NAMES)
    assert [mark.name for mark in both.marks] == ["A, training", "A, test", "B, training", "B, test"]
    assert all(isinstance(mark, Scatter) for mark in both.marks) and len(set(both.colors)) == 4
    assert both.caption == "Measured."


def test_each_report_keeps_its_caption_if_they_differ():
    both = overlay_plots(losses(0.1, 0.5, "A falls."), losses(0.1, 0.2, "B stays."), NAMES)
    assert both.caption == "A: A falls. B: B stays."


def test_different_axes_and_predictions_are_not_shared():
    one = losses(0.1, 0.5)
    other = Plot(one.title, losses(0.1, 0.2).marks, Axis("step"), one.y, "", "loss")
    assert overlay_plots(one, other, NAMES) is None
    predicted = Plot(one.title, (*one.marks, Line("theory", (1, 2), (1.0, 0.4), predicted=True)), one.x, one.y)
    both = overlay_plots(predicted, losses(0.1, 0.2), NAMES)
    assert not any(isinstance(mark, Line) for mark in both.marks) and both.caption == ""
