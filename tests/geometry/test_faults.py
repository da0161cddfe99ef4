"""Which layer is blamed, and with which numbers, for signals whose sizes are powers of ten."""

from dataclasses import replace
from math import log

import pytest
import torch
from torch import nn

from gnomon.geometry import signal
from gnomon.geometry.faults import Layer, faults

PLAIN = Layer("0", "Linear", 1.0, 1.0, 1.0, 0.0, 0.0, 8, 8, True, False, True)


def layers(*powers):
    """Healthy layers but for the mean squares of their activations, powers of ten."""
    return tuple(replace(PLAIN, name=str(i), activation=10.0**p) for i, p in enumerate(powers))


@pytest.mark.parametrize("powers, blamed", [((0, -2, -6, -8, -10), None), ((0, -1, -7, -8, -10), "2")])
def test_a_layer_is_blamed_alone_where_it_makes_more_than_half_of_the_change(powers, blamed):
    (found,) = faults(layers(*powers))
    assert found.key == "vanishing activations" and found.layer == blamed
    by = "each of 5 layers by 0.0032" if blamed is None else "'2' alone by 1e-06"  # 10^(-10 / 4), in four steps
    assert found.what == f"Vanishing activations: their squares change by 1.0e-10 on the way; {by}"


@pytest.mark.parametrize("power, keys", [(4.01, ["exploding activations"]), (3.99, [])])
def test_ten_thousand_is_what_squares_may_change_by(power, keys):
    assert [f.key for f in faults(layers(0, 2, power))] == keys


@pytest.mark.parametrize("size, blamed", [(1000, ["1"]), (8, [])])
def test_a_narrow_layer_behind_which_a_bias_hides_is_found_by_sums_over_its_outputs(size, blamed):
    """Gradients before it sum to 8 x 1e-3, and behind it to its size: a ratio above 1e4, or below."""
    before = replace(PLAIN, gradient=1e-3)
    narrow = replace(PLAIN, name="1", activation=1e-5, size=size)
    found = faults((before, narrow, replace(PLAIN, name="2")))
    assert [f.layer for f in found] == blamed


def test_rates_are_those_of_multiples_of_the_identity():
    """Weights 2 I multiply squares by 4 forwards at each of five layers after the first, and backwards."""
    net = nn.Sequential(*(nn.Linear(3, 3, bias=False) for _ in range(6)))
    for layer in net:
        layer.weight.data.copy_(2 * torch.eye(3))
    found = signal(net, torch.randn(10, 3))
    assert found.rate() == pytest.approx(log(4), rel=1e-6)
    assert found.rate("gradient") == pytest.approx(-log(4), rel=1e-6)
