"""Modes: rates, shares and times against training and against the definition."""

from math import exp, inf, log

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from scipy.linalg import expm

from gnomon.core import InputError
from gnomon.dynamics import GradientFlow, predict_from_kernel, training_modes
from gnomon.training import SGD
from tests.dynamics.linear import model
from tests.oracles.training import steps


def test_rates_are_the_nonzero_eigenvalues_of_the_hessian_of_the_loss():
    case = model(n=5, p=3)
    result = training_modes(case.ntk, case.y)
    hessian = case.phi.T @ case.phi / 5
    assert_allclose(result.rates[:3], np.linalg.eigvalsh(hessian)[::-1], rtol=1e-12)
    assert result.rank == 3 and result.rates[3:].tolist() == [0.0, 0.0]
    assert result.time()[3:].tolist() == [inf, inf]


@pytest.mark.parametrize("alpha", [0.0, 0.4])
def test_each_mode_decays_as_told_in_a_trained_model(alpha):
    case, rate = model(), 0.02
    path = steps(case.phi, case.y, case.theta0, rate, 100, alpha=alpha)
    result = training_modes(case.ntk, case.y, f0=case.starts["f0"], optimizer=SGD(rate), penalty=alpha)
    errors = np.einsum("nr,tnk->trk", result.vectors, case.phi @ path - case.y)
    told = result.error([rate * s for s in range(101)])[:, :, None] * -result.coefficients
    assert_allclose(errors, told, atol=1e-11)


def test_the_time_of_a_mode_brings_its_error_to_the_fraction():
    case = model()
    for way in (GradientFlow(), SGD(0.1)):
        result = training_modes(case.ntk, case.y, optimizer=way)
        for i, time in enumerate(result.time(0.05).tolist()):
            left = abs(float(result.error([time])[0, i]))
            lost = 0.1 * float(result.rates[i]) if way.lr else 0.0  # descent moves in whole steps
            assert 0.05 * exp(-lost) / 1.6 < left < 0.05 * 1.6 if way.lr else abs(left - 0.05) < 1e-12
    assert_allclose(training_modes(case.ntk, case.y).time(0.05), log(20) / result.rates, rtol=1e-12)


def test_with_a_penalty_the_transient_of_a_trained_model_falls_to_the_fraction_in_the_time_told():
    case, alpha, fraction = model(k=1), 0.6, 0.2
    result = training_modes(case.ntk, case.y, f0=case.f0, penalty=alpha)
    n, p = case.phi.shape
    gradient = case.phi.T @ (case.y - case.phi @ case.theta0) / n
    hessian = case.phi.T @ case.phi / n + alpha * np.eye(p)
    away = -np.linalg.solve(hessian, gradient)  # of the initial parameters from those at the end
    for i, time in enumerate(result.time(fraction).tolist()):
        row = result.vectors[:, i].numpy() @ case.phi
        assert_allclose(row @ expm(-time * hessian) @ away, fraction * (row @ away), rtol=1e-9)


@pytest.mark.parametrize("beta", [0.0, 0.7])
def test_with_a_penalty_the_largest_lr_is_where_a_trained_model_turns_unstable(beta):
    case, alpha = model(), 0.8
    n, p = case.phi.shape
    way = SGD(0.01, momentum=beta)
    largest = training_modes(case.ntk, case.y, optimizer=way, penalty=alpha).largest_lr
    hessian = case.phi.T @ case.phi / n + alpha * np.eye(p)
    assert_allclose(largest, 2 * (1 + beta) / np.linalg.eigvalsh(hessian)[-1], rtol=1e-12)
    sizes = [
        np.abs(steps(case.phi, case.y, case.theta0, f * largest, 800, beta=beta, alpha=alpha)[-1]).max()
        for f in (0.98, 1.02)
    ]
    assert sizes[0] < 10 and sizes[1] > 1e3


def test_what_rounding_leaves_of_a_kernel_of_low_rank_has_no_rate():
    case = model(n=200, p=3)
    assert training_modes(case.ntk, case.y).rank == 3


def test_large_modes_are_learned_first():
    errors = training_modes(torch.diag(torch.tensor([3.0, 2.0, 1.0])), torch.ones(3)).error([1.0])[0]
    assert_allclose(errors, np.exp([-1.0, -2 / 3, -1 / 3]), rtol=1e-14)


def test_the_loss_is_the_sum_over_modes():
    case = model()
    result = training_modes(case.ntk, case.y)
    run = predict_from_kernel(case.ntk, case.y, times=[0.7])
    total = (case.y**2).sum() / 10
    assert_allclose(run.loss, total * (result.power * result.error([0.7])[0] ** 2).sum(), rtol=1e-12)


def test_a_fraction_must_be_one():
    with pytest.raises(
        InputError, match=r"TrainingModes.time\(\): fraction must be a number above 0 and below 1, but it is 1.5"
    ):
        training_modes(torch.eye(2), torch.ones(2)).time(1.5)
