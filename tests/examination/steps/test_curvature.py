"""Curvatures and limits of a straight line, whose Hessian is the second moment of its inputs."""

import pytest
import torch
from torch import nn

from gnomon.examination.steps.curvature import CurvatureStep
from gnomon.examination.steps.stability import StabilityStep
from gnomon.training import SGD, train
from tests.examination.steps.setting import answered

X = torch.linspace(-2, 2, 12)[:, None]
CURVATURE = float(X.double().square().mean())


def line():
    return nn.Linear(1, 1, bias=False)


def grows(lr, momentum):
    """Whether 200 steps of the heavy ball on a parabola end farther from its bottom than they began."""
    away, velocity = 1.0, 0.0
    for _ in range(200):
        velocity = momentum * velocity - lr * CURVATURE * away
        away += velocity
    return abs(away) > 1


@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_a_learning_rate_is_called_too_large_exactly_where_training_diverges(momentum, factor):
    edge = 2 * (1 + momentum) / CURVATURE  # where the heavy ball turns unstable, checked by running it
    lr = factor * edge
    assert grows(lr, momentum) == (factor > 1)
    content = answered(StabilityStep, line(), (X, 3 * X), optimizer=SGD(lr, momentum=momentum)).content
    assert [f.kind for f in content.findings] == (["learning-rate-too-large"] if factor > 1 else [])
    for finding in content.findings:
        assert finding.level.name == "PROBLEM"
        assert f"{factor:.1f}x above the stable limit {edge:.3g}" in finding.message
        assert f"{0.5 * edge:.2g}" in finding.fix and finding.evidence[1].value == pytest.approx(edge, rel=1e-5)


@pytest.mark.parametrize("pace, level", [(0.12, None), (0.08, "NOTE"), (0.008, "WARNING")])
def test_a_tenth_of_the_limit_is_where_a_learning_rate_is_called_small_momentum_counted(pace, level):
    limit, edge, asks = 2 / CURVATURE, 2 * 1.9 / CURVATURE, level is not None
    rule = SGD(pace * limit * (1 - 0.9), momentum=0.9)  # momentum of 0.9 adds up ten steps
    content = answered(StabilityStep, line(), (X, 3 * X), optimizer=rule).content
    assert [f.fix for f in content.findings] == (
        [f"Try a larger learning rate, up to {0.5 * edge:.2g}."] if asks else []
    )
    assert all(finding.level.name == level for finding in content.findings)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_the_stable_limit_is_that_of_the_heavy_ball(momentum, factor):
    edge = 2 * (1 + momentum) / CURVATURE
    result = answered(StabilityStep, line(), (X, 3 * X), optimizer=SGD(factor * edge, momentum=momentum))
    assert result.product.largest_lr == pytest.approx(2 / CURVATURE, rel=1e-5)
    assert result.product.value == pytest.approx(CURVATURE, rel=1e-5)
    (meter,) = result.content.plots[0].marks
    assert (meter.value, meter.edges[2]) == pytest.approx((factor * edge, edge), rel=1e-5)
    answer = f"2.0x {'above' if factor > 1 else 'below'} the stable limit {edge:.3g}."
    assert result.content.answer.endswith(answer)


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_at_the_end_the_sharpness_is_measured_against_what_the_learning_rate_allows(momentum):
    lr = 0.3 * 2 * (1 + momentum) / CURVATURE  # so the curvature is 30 % of what it allows
    run = train(line(), (X, 3 * X), optimizer=SGD(lr, momentum=momentum), steps=1)
    result = answered(CurvatureStep, line(), (X, 3 * X), [run])
    values = {value.name: value for value in result.content.values}
    assert values["limit of the learning rate in use"].value == pytest.approx(CURVATURE / 0.3, rel=1e-5)
    assert "30% of the limit of its learning rate" in result.content.answer
    assert values["trace of the Hessian"].value == pytest.approx(CURVATURE, rel=1e-5)  # of one parameter
    assert result.product.sharpness == pytest.approx(CURVATURE, rel=1e-5)


@pytest.mark.parametrize("factor, kinds", [(1.1, []), (1.5, ["learning-rate-unstable"])])
def test_an_end_that_is_too_steep_for_the_learning_rate_is_no_fine_section(factor, kinds):
    run = train(line(), (X, 3 * X), optimizer=SGD(factor * 2 / CURVATURE), steps=1)
    content = answered(CurvatureStep, line(), (X, 3 * X), [run]).content
    assert [finding.kind for finding in content.findings] == kinds
    assert ("cannot stay at these weights" in content.answer) == bool(kinds)
