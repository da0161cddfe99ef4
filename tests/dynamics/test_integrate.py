"""Descent on any loss, step by step, against parameters that were really moved by torch's own optimizer."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gnomon.dynamics import CrossEntropy, Logistic, predict_from_kernel
from gnomon.training import SGD
from tests.dynamics.linear import model
from tests.oracles.training import steps

EXACT = 1e-10  # thirty steps of float64 arithmetic on numbers of order 10


@pytest.mark.parametrize("beta", [0.0, 0.8])
@pytest.mark.parametrize("loss", [CrossEntropy(), Logistic()])
def test_other_losses_step_like_penalized_parameters(loss, beta):
    case, rate, count, alpha = model(k=3), 0.1, 30, 0.4
    labels = np.array([0, 1, 2, 1, 0])
    classes = isinstance(loss, CrossEntropy)
    y = labels if classes else np.sign(case.y)
    told = np.eye(3)[labels] if classes else y  # torch's cross-entropy takes probabilities as well
    name = "cross-entropy" if classes else "logistic"
    path = steps(case.phi, told, case.theta0, rate, count, beta=beta, alpha=alpha, loss=name)
    way = SGD(rate, momentum=beta)
    times = [rate * s for s in range(count + 1)]
    run = predict_from_kernel(
        case.ntk, y, test=case.test, times=times, loss=loss, optimizer=way, penalty=alpha, **case.starts
    )
    assert_allclose(run.train, case.phi @ path, atol=EXACT)
    assert_allclose(run.test, case.phi_test @ path, atol=EXACT)
    free = predict_from_kernel(case.ntk, y, times=times, loss=loss, optimizer=way, f0=case.f0)
    assert np.abs(free.train[-1].numpy() - case.phi @ path[-1]).max() > 0.1  # the penalty matters here
