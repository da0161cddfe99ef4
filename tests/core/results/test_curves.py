"""Curves of training: what they draw, what their JSON holds, how a result shows them as its own."""

from dataclasses import dataclass
from math import inf

import torch

from gnomon.core.results import Curves, Line, ResultWithCurves, Scatter

TIMES, LOSS = torch.tensor([0.0, 0.5, 2.0, inf]), torch.tensor([4.0, 2.0, 1.0, 0.5])


@dataclass(frozen=True, slots=True, eq=False)
class Fit(ResultWithCurves):
    curves: Curves

    @property
    def verdict(self) -> str:
        return "Done."


def test_zero_and_infinite_times_are_not_drawn():
    curves = Curves(TIMES, LOSS, "squared loss", test_loss=2 * LOSS)
    plot = curves.plot("Training")
    assert plot.marks == (
        Line("training", [0.5, 2.0], [2.0, 1.0], color=0), Line("test", [0.5, 2.0], [4.0, 2.0], color=1)
    )  # fmt: skip
    assert plot.x.log and plot.y.log and plot.y.label == "squared loss"
    assert curves.points("measured")[1] == Scatter("measured test", [0.5, 2.0], [4.0, 2.0], 1)


def test_rose_compares_the_ends():
    assert not Curves(TIMES, LOSS, "squared loss").rose and Curves(TIMES, LOSS.flip(0), "squared loss").rose


def test_a_result_reads_its_curves_and_json_leaves_out_the_outputs():
    parts = dict(test_loss=LOSS + 1, accuracy=LOSS / 4, test_accuracy=LOSS / 8, train=LOSS[:, None], test=TIMES)
    curves = Curves(TIMES, LOSS, "squared loss", **parts)
    fit = Fit(curves)
    names = ("times", "loss", "loss_name", *parts)
    assert all(getattr(fit, name) is getattr(curves, name) for name in names)
    shown = fit.to_dict()["curves"]
    assert set(shown) == {*names} - {"train", "test"} and shown["times"] == [0.0, 0.5, 2.0, "inf"]
