"""Ranges of learning rates and scales: the summaries of given losses, and runs written out by hand."""

from math import inf, nan

import pytest
import torch
from torch import nn

from gnomon.landscape import lr_range
from gnomon.landscape.ranges import InitializationScaleRange, LrRange, _smooth, initialization_scale_range
from gnomon.training import SGD


def test_smoothing_is_a_mean_over_five_neighbors_and_fewer_at_the_ends():
    assert _smooth([1.0, 2.0, 4.0, 8.0, 16.0, 32.0]) == pytest.approx([7 / 3, 15 / 4, 31 / 5, 62 / 5, 15, 56 / 3])


def test_the_steepest_rate_compares_a_tenth_of_the_steps_on_both_sides():
    rates = tuple(float(i) for i in range(30))
    losses = [10.0] * 30
    losses[14:] = [2.0] * 16
    losses[5] = 1.0  # one lucky batch falls by 9, its neighborhood of three by 3
    assert LrRange(rates, tuple(losses), "finished").steepest == 14.0
    few = LrRange((0.1, 0.2, 0.4), (3.0, 1.0, 0.5), "finished")
    assert few.steepest == 0.2


def test_the_largest_rate_has_the_least_smoothed_loss():
    losses = (5.0, 5.0, 0.0, 5.0, 5.0, 3.0, 1.5, 1.0, 1.5, 3.0, 5.0)
    assert LrRange(tuple(range(11)), losses, "diverged").largest == 7


@pytest.mark.parametrize(("ratio", "trainable"), [(1.9, (1.0, 3.0)), (2.1, (1.0,))])
def test_scales_within_a_factor_two_of_the_best_loss_are_trainable(ratio, trainable):
    found = InitializationScaleRange((0.3, 1.0, 3.0, 9.0), (nan, 0.7, 0.7 * ratio, inf))
    assert found.trainable == trainable
    assert InitializationScaleRange((1.0,), (nan,)).trainable == ()


def test_a_run_of_rising_rates_is_descent_with_those_rates():
    """L = w^2 / 2 of one weight: w is multiplied by 1 - lr at every step."""
    net = nn.Linear(1, 1, bias=False).double()
    nn.init.constant_(net.weight, 3.0)
    found = lr_range(net, (torch.ones(5, 1).double(), torch.zeros(5).double()), low=0.1, high=1.6, steps=5)
    w, expected = 3.0, []
    for rate in (0.1, 0.2, 0.4, 0.8, 1.6):
        expected.append(w**2 / 2)
        w *= 1 - rate
    assert found.lrs == pytest.approx((0.1, 0.2, 0.4, 0.8, 1.6)) and found.losses == pytest.approx(expected)
    assert found.stopped == "finished"


@pytest.mark.parametrize(("second", "stopped"), [(3.9, "finished"), (4.1, "diverged")])
def test_a_loss_above_four_times_the_first_is_divergence(second, stopped):
    """A loss that ignores the parameters and returns 1, 1, 1, then ``second``."""
    values = iter([1.0, 1.0, 1.0, second])
    loss = lambda f, y: next(values) + 0 * f.sum()  # noqa: E731
    found = lr_range(nn.Linear(1, 1), (torch.ones(5, 1), torch.zeros(5)), steps=4, loss=loss)
    assert found.stopped == stopped and found.losses[:3] == (1.0, 1.0, 1.0)
    assert len(found.losses) == (4 if stopped == "finished" else 3)


def test_scales_multiply_weights_and_leave_biases():
    """Steps are so small that the network stays where it was scaled to."""
    net = nn.Linear(2, 1).double()
    nn.init.constant_(net.weight, 0.5)
    nn.init.constant_(net.bias, 0.25)
    x, y = torch.tensor([[1.0, 2.0]]).double(), torch.zeros(1).double()
    found = initialization_scale_range(net, (x, y), scales=(1.0, 3.0), steps=1, optimizer=SGD(1e-12))
    assert found.losses == pytest.approx((1.75**2 / 2, 4.75**2 / 2))
    default = initialization_scale_range(net, (x, y), steps=1, optimizer=SGD(1e-12))
    assert default.scales == (0.1, 0.3, 1.0, 3.0, 10.0)


def test_the_steepest_rate_may_be_the_last_that_has_both_sides():
    rates = tuple(float(i) for i in range(20))
    losses = (5.0,) * 18 + (1.0, 1.0)  # means over two steps: the largest fall is from steps 16 and 17 to 18 and 19
    assert LrRange(rates, losses, "finished").steepest == 18.0
