"""Early stopping against ridge regression done in parameters."""

import json
from math import exp

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from gnomon.core import InputError, NotFiniteError
from gnomon.dynamics import equivalent_stopping_time
from gnomon.training import SGD
from tests.dynamics.linear import model
from tests.oracles.training import steps


def test_the_constant_is_the_largest_gap_of_the_two_filters():
    z = np.geomspace(1e-3, 1e3, 200001)
    gap = 1 / (1 + z) - np.exp(-z)
    result = equivalent_stopping_time(np.diag(z[::2000] * 101), np.ones(101), ridge=1.0)
    assert_allclose(result.bound, gap.max(), atol=1e-9)
    assert_allclose(result.gaps.sort().values, np.sort(gap[::2000]), atol=1e-12)
    assert result.worst <= result.bound


def test_small_and_large_modes_agree():
    result = equivalent_stopping_time(np.diag([2e-3, 2e3]), np.ones(2), ridge=1.0)
    assert result.worst < 0.001 + exp(-999)


def test_times_and_gaps_have_double_precision():
    """1 / 0.3 is no number of float32; 1 - exp(-z) - z / (1 + z) at z = rate / ridge by numpy."""
    z = np.array([0.01, 1.0, 7.0]) / 3 / 0.3
    result = equivalent_stopping_time(np.diag([0.01, 1.0, 7.0]), np.ones(3), ridge=0.3)
    assert result.time == 1 / 0.3
    assert_allclose(result.gaps.abs().sort().values, np.sort(np.abs(-np.expm1(-z) - z / (1 + z))), rtol=1e-12)


@pytest.mark.parametrize("size", [0.0, 1.0])
def test_the_gap_is_that_of_trained_models(size):
    case, ridge, rate = model(n=6, p=9, k=1), 0.4, 0.01
    n, p = case.phi.shape
    start = size * case.theta0
    path = steps(case.phi, case.y, start, rate, round(1 / (ridge * rate)))[-1]
    hessian = case.phi.T @ case.phi / n + ridge * np.eye(p)
    change = np.linalg.solve(hessian, case.phi.T @ (case.y - case.phi @ start) / n)
    starts = {"f0": case.phi @ start, "f0_test": case.phi_test @ start}
    result = equivalent_stopping_time(case.ntk, case.y, ridge=ridge, test=case.test, optimizer=SGD(rate), **starts)
    assert result.time == pytest.approx(2.5)
    for phi, gap in ((case.phi, result.train_gap), (case.phi_test, result.test_gap)):
        apart = phi @ (path - start - change)
        assert_allclose(gap, np.linalg.norm(apart) / np.linalg.norm(phi @ change), rtol=1e-9)
    assert json.loads(json.dumps(result.to_dict()))["bound"] == "inf"
    assert "Stopping at time 2.5 acts like a ridge of 0.4" in result.verdict


def test_bad_ridges_and_steps_are_lessons():
    with pytest.raises(InputError, match="ridge must be a number above 0 and finite, but it is 0.0"):
        equivalent_stopping_time(torch.eye(2), torch.ones(2), ridge=0.0)
    with pytest.raises(NotFiniteError, match="Use an lr below"):
        equivalent_stopping_time(torch.eye(2), torch.ones(2), ridge=1e-4, optimizer=SGD(6.0))
