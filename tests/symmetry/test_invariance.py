"""Motions of images, and how often they change a decision, counted by hand."""

import pytest
import torch
from scipy.stats import binomtest
from torch import nn

import gnomon
from gnomon.symmetry.invariance import invariance, motions


def test_motions_shift_and_mirror_and_bring_in_zeros():
    x = torch.arange(1.0, 7.0).reshape(1, 1, 2, 3)
    moved = {name: v[0, 0].tolist() for name, v in motions(x).items()}
    assert moved["pixel-right"] == [[0, 1, 2], [0, 4, 5]] and moved["pixel-left"] == [[2, 3, 0], [5, 6, 0]]
    assert moved["pixel-down"] == [[0, 0, 0], [1, 2, 3]]
    assert moved["mirror-horizontal"] == [[3, 2, 1], [6, 5, 4]]
    assert moved["mirror-vertical"] == [[4, 5, 6], [1, 2, 3]]


class Brighter(nn.Module):
    """The brightness of the left and of the right half of an image; as one output, their difference."""

    def __init__(self, outputs=2):
        super().__init__()
        self.scale, self.outputs = nn.Parameter(torch.ones(())), outputs

    def forward(self, x):
        left, right = self.scale * x[..., :2].sum((1, 2, 3)), self.scale * x[..., 2:].sum((1, 2, 3))
        return torch.stack([left, right], 1) if self.outputs == 2 else (left - right)[:, None]


def images():
    """30 of 40 images are brighter on the left, the others on neither side."""
    x = torch.ones(40, 1, 4, 4)
    x[:30, :, :, 0] = 2.0
    return x


def test_changed_decisions_have_a_binomial_interval():
    """The mirror changes the decision for the 30 images that are brighter on one side."""
    result = invariance(Brighter(), images())
    rows = {motion.id: motion for motion in result.motions}
    mirror = rows["mirror-horizontal"]
    assert mirror.decisions == pytest.approx(0.75) and result.examples == 40
    exact = binomtest(30, 40).proportion_ci(0.95, method="exact")
    assert (mirror.interval.low, mirror.interval.high) == pytest.approx(tuple(exact))
    # outputs (12, 8) become (8, 12), and the ten images with (8, 8) stay
    assert mirror.change == pytest.approx((30 * 2 * 4**2 / (30 * (12**2 + 8**2) + 10 * 2 * 8**2)) ** 0.5)
    assert rows["mirror-vertical"].change == 0 and rows["mirror-vertical"].decisions == 0


def test_the_decision_of_one_output_is_its_sign():
    rows = {motion.id: motion for motion in invariance(Brighter(1), images()).motions}
    assert rows["mirror-horizontal"].decisions == pytest.approx(0.75)  # 4 becomes -4; zero stays


def test_it_says_which_motion_matters_most():
    result = invariance(Brighter(), images())
    assert "least for 'mirror, top to bottom' (0.0%)" in result.verdict
    assert result.plots()[0].marks[0].labels == tuple(motion.name for motion in result.motions)


def test_what_is_no_image_is_refused():
    with pytest.raises(gnomon.InputError, match=r"^invariance\(module, data\): data must be a tensor of images"):
        invariance(nn.Linear(3, 1), torch.zeros(2, 3))
