"""Gains and remainders against the recursions that define them, from tiny to unstable curvatures."""

from fractions import Fraction
from math import inf, log

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from gnomon.core import InputError
from gnomon.dynamics import GradientFlow, error_decay, training_modes
from gnomon.training import SGD, Adam
from tests.oracles.ball import rolled

RATES = [0.0, 1e-12, 1e-3, 0.3, 1.0, 1.999, 2.0, 3.6, 3.9]


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 150])
def test_closed_forms_are_the_recursions(beta, count):
    step = 0.5
    decay = error_decay(SGD(step, momentum=beta))
    rates, times = torch.tensor(RATES, dtype=torch.float64), torch.tensor([step * count], dtype=torch.float64)
    paths = [rolled(rate, step, beta, count) for rate in RATES]
    gain, remainder = (
        [float(p[-1]) for p in paths],
        [float(1 - Fraction(r) * p[-1]) for r, p in zip(RATES, paths, strict=True)],
    )
    assert_allclose(decay.gain(rates, times)[0], gain, rtol=1e-11)
    assert_allclose(decay.remainder(rates, times)[0], remainder, rtol=1e-9, atol=1e-13)


def test_momentum_at_its_double_root():
    rate = (1 - 0.9**0.5) ** 2 / 0.5  # both roots are sqrt(beta)
    times = torch.tensor([50.0], dtype=torch.float64)
    result = error_decay(SGD(0.5, momentum=0.9)).remainder(torch.tensor([rate], dtype=torch.float64), times)
    assert_allclose(
        float(result), float(1 - Fraction(rate) * rolled(rate, 0.5, 0.9, 100)[-1]), rtol=1e-6
    )  # a double root has half the digits


def test_the_flow_loses_no_digits_where_little_happens():
    rates, times = torch.tensor([1e-18, 1e-9], dtype=torch.float64), torch.tensor([1.0], dtype=torch.float64)
    assert_allclose(GradientFlow().gain(rates, times)[0], [1.0, 1 - 0.5e-9], rtol=1e-15)


def test_infinite_time():
    rates, forever = torch.tensor([0.0, 1.0, 5.0], dtype=torch.float64), torch.tensor([inf], dtype=torch.float64)
    for optimizer in (GradientFlow(), SGD(0.1), SGD(0.1, momentum=0.5)):
        decay = error_decay(optimizer)
        assert decay.remainder(rates, forever)[0].tolist() == [1.0, 0.0, 0.0]
        assert_allclose(decay.gain(rates, forever)[0], [inf, 1.0, 0.2])
    assert error_decay(SGD(1.0)).remainder(rates, forever)[0].tolist() == [1.0, 0.0, inf]


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9])
def test_the_decay_is_the_one_that_is_seen(beta):
    decay = error_decay(SGD(0.5, momentum=beta))
    rates = [0.001, 0.02, 0.4, 1.3, 4 * (1 + beta) + 0.3]
    seen = [-log(slowest(rolled(rate, 0.5, beta, 6), 1 / Fraction(rate), 2 if beta else 1)) / 0.5 for rate in rates]
    assert_allclose(decay.decay(torch.tensor(rates, dtype=torch.float64)), seen, rtol=1e-9)


def slowest(path, end, waves):
    """The largest factor by which a sum of one or two geometric sequences shrinks, from its values (Prony's method)."""
    a, b, c, d = (p - end for p in path[2:6])
    if waves == 1:
        return float(abs(b / a))
    first, second = (b * c - a * d) / (b * b - a * c), (b * d - c * c) / (b * b - a * c)  # c = first b + second a, ...
    return float(np.abs(np.roots([1.0, -float(first), -float(second)])).max())


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9])
def test_the_reach_is_where_a_long_run_turns_from_falling_to_growing(beta):
    decay, rate = error_decay(SGD(0.5, momentum=beta)), 1.7
    for factor, grows in ((0.99, False), (1.01, True)):
        path = [abs(c - 1 / Fraction(rate)) for c in rolled(rate, factor * decay.largest_lr(rate), beta, 2000)]
        assert (max(path[-30:]) > max(path[:30])) == grows


def test_times_move_to_whole_steps():
    assert_allclose(error_decay(SGD(0.3)).clock(torch.tensor([0.0, 0.4, 0.5, inf]).double()), [0.0, 0.3, 0.6, inf])


@pytest.mark.parametrize(
    "optimizer, message",
    [
        (Adam(), r"optimizer must be GradientFlow\(\) or SGD"),
        (SGD(0.1, decay=0.1), "the optimizer is SGD.*without decay"),
    ],
)
def test_rules_that_are_no_descent_along_the_gradient_are_refused(optimizer, message):
    with pytest.raises(InputError, match=r"error_decay\(optimizer\): " + message):
        error_decay(optimizer)


def test_weight_decay_is_refused_in_the_name_of_the_call():
    with pytest.raises(InputError, match=r"training_modes\(ntk, y\): the optimizer is SGD.*without decay"):
        training_modes(torch.eye(2), torch.ones(2), optimizer=SGD(0.1, decay=0.1))
