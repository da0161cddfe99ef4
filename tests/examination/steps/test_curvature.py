"""Curvatures and limits of a straight line, whose Hessian is the second moment of its inputs."""

from math import inf
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon.core.clock import Ticking
from gnomon.examination.step import Context
from gnomon.examination.steps.curvature import Curvature
from gnomon.examination.steps.stability import Stability
from gnomon.examination.steps.training import default
from gnomon.training import SGD
from tests.examination.steps.setting import answered

X = torch.linspace(-2, 2, 12)[:, None]
CURVATURE = float(X.double().square().mean())


def line():
    return nn.Linear(1, 1, bias=False)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_the_stable_limit_is_that_of_the_heavy_ball(momentum, factor):
    edge = 2 * (1 + momentum) / CURVATURE
    found = answered(Stability, line(), (X, 3 * X), optimizer=SGD(factor * edge, momentum=momentum))
    assert found.facts["stable lr"] == pytest.approx(2 / CURVATURE, rel=1e-5)
    assert found.section.value("sharpness").value == pytest.approx(CURVATURE, rel=1e-5)
    assert found.section.status == ("fault" if factor > 1 else "good")
    assert found.section.answer.endswith(f"2.0x {'above' if factor > 1 else 'below'} the stable limit {edge:.3g}.")


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_at_the_end_the_sharpness_is_measured_against_what_the_step_bears(momentum):
    lr = 0.3 * 2 * (1 + momentum) / CURVATURE  # so the curvature is 30 % of what it bears
    net, used = line(), SGD(lr, momentum=momentum)
    found = answered(Curvature, net, (X, 3 * X), {"run": SimpleNamespace(model=net), "optimizer": used})
    assert found.section.value("limit of the learning rate in use").value == pytest.approx(CURVATURE / 0.3, rel=1e-5)
    assert "30% of what its learning rate allows" in found.section.answer
    trace = found.section.value("trace of the Hessian")
    assert trace.value == pytest.approx(CURVATURE, rel=1e-5)  # of one parameter
    assert found.facts["sharpness after"] == pytest.approx(CURVATURE, rel=1e-5)


def test_without_an_optimizer_a_quarter_of_the_stable_step_is_taken():
    assert default(Context({"stable lr": 0.8}, 0, inf, True, Ticking(0.01))) == SGD(0.2)
    assert default(Context({}, 0, inf, True, Ticking(0.01))) == SGD(0.1)
