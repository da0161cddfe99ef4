"""Values and thresholds of findings about training: a case on each side, and every stated number."""

from math import sqrt

import pytest
import torch
from torch import nn

from gnomon.checks.run.decay import network_weight_decay_findings, weight_decay_findings
from gnomon.checks.run.outcome_numbers import regression_outcome_findings
from gnomon.checks.run.stable_rate import stable_rate_findings
from gnomon.checks.run.step_size import learning_rate_findings
from gnomon.training import SGD, Adam


def kinds(findings):
    return [finding.kind for finding in findings]


def network():
    net = nn.Sequential(nn.Linear(3, 2), nn.Embedding(5, 4))
    net[0].weight.data = torch.tensor([[1.0, 2.0, 2.0], [0.0, 4.0, 0.0]])
    nn.init.constant_(net[0].bias, 100.0)
    return net


def test_the_pull_of_decay_on_the_matrices_of_a_network():
    """|w| = 5 and |g| = 2 of the one matrix: biases and embeddings are left out."""
    net = network()
    gradients = {
        "0.weight": torch.tensor([[0.0, 2.0, 0.0], [0.0, 0.0, 0.0]]),
        "0.bias": torch.ones(2),
        "1.weight": torch.ones(5, 4),
    }
    for decay, found in ((0.21, True), (0.19, False)):  # 5 / 2 times the decay above or below 1/2
        assert bool(network_weight_decay_findings(net, SGD(0.1, decay=decay), gradients)) is found
    rms = sqrt(25 / 6)
    for pull, found in ((0.51, True), (0.49, False)):
        (*stated,) = network_weight_decay_findings(net, Adam(0.1, decay=pull / rms), gradients)
        assert bool(stated) is found
    (stated,) = network_weight_decay_findings(net, SGD(0.1, decay=0.4), gradients)
    assert stated.values["pull"] == pytest.approx(1.0) and stated.values["decay"] == 0.4
    assert (
        network_weight_decay_findings(net, None, gradients)
        == ()
        == network_weight_decay_findings(net, SGD(0.1), gradients)
    )
    (apart,) = weight_decay_findings(0.3, weights=9.0, rms=2.0, gradient=0.1, decoupled=True)
    assert apart.values["pull"] == pytest.approx(0.6)


def errors(mean, spread=0.01, n=100):
    """Squared errors of a given mean and a given standard deviation."""
    half = spread * sqrt((n - 1) / n)
    return torch.tensor([mean - half, mean + half] * (n // 2), dtype=torch.float64)


def test_explained_variance_and_the_gap_of_a_regression():
    (stated,) = regression_outcome_findings(errors(0.1), errors(0.5), simple=0.4)
    assert stated.kind == "overfit"
    assert stated.values["train"] == pytest.approx(0.9) and stated.values["test"] == pytest.approx(0.5)
    assert [float(v.value) for v in stated.evidence] == pytest.approx([0.4, 0.4 / sqrt(2 * 0.01**2 / 100)], rel=1e-6)
    (worse,) = regression_outcome_findings(errors(0.1), errors(1.5), simple=0.4)
    assert worse.values["test"] == 0.0
    assert regression_outcome_findings(errors(0.1), errors(0.19), simple=0.4) == ()  # a gap of less than 0.1
    assert kinds(regression_outcome_findings(errors(0.1), errors(0.21), simple=0.4)) == ["overfit"]
    for spread, found in ((0.5, False), (0.3, True)):  # 0.2 is 2.8 or 4.7 deviations of the difference
        assert bool(regression_outcome_findings(errors(0.5, spread), errors(0.7, spread), simple=0.4)) is found
    assert regression_outcome_findings(errors(0.1), errors(0.5)[:1], simple=0.4) == ()
    assert kinds(regression_outcome_findings(errors(0.1, 0.0), errors(0.5, 0.0), simple=0.4)) == [
        "overfit"
    ]  # no spread


def test_a_regression_below_a_simple_model():
    """Ten points of explained variance and three deviations of the training error below it."""
    (stated,) = regression_outcome_findings(errors(0.5), None, simple=0.7)
    assert (
        stated.kind == "underfit"
        and stated.values["explained"] == pytest.approx(0.5)
        and stated.values["simple"] == 0.7
    )
    assert [float(v.value) for v in stated.evidence] == pytest.approx([0.5, 0.7])
    assert regression_outcome_findings(errors(0.5), None, simple=0.602) == ()  # 0.1 + 3 * 0.001 are needed
    assert kinds(regression_outcome_findings(errors(0.5), None, simple=0.604)) == ["underfit"]
    (nothing,) = regression_outcome_findings(errors(1.2), None, simple=0.7)
    assert nothing.kind == "not-learning" and nothing.values["explained"] == 0.0
    for explained, kind in ((0.029, "not-learning"), (0.031, "underfit")):
        assert kinds(regression_outcome_findings(errors(1 - explained), None, simple=0.7)) == [kind]
    (alike,) = regression_outcome_findings(errors(0.98), None, simple=0.02)
    assert alike.values["simple"] == 0.02 and alike.values["explained"] == pytest.approx(0.02)
    (negative,) = regression_outcome_findings(errors(0.98), None, simple=-0.5)
    assert negative.values["simple"] == 0.0


def test_learning_rates_beside_the_stable_limit():
    """Momentum 0.5 makes steps twice as long, and the limit without it two thirds of the one with it."""
    assert kinds(stable_rate_findings(2.01, 0.0, 2.0)) == ["learning-rate-too-large"]
    (above,) = stable_rate_findings(6.0, 0.0, 2.0)
    assert above.values["ratio"] == pytest.approx(3.0) and above.values["half"] == pytest.approx(1.0)
    assert stable_rate_findings(0.21, 0.0, 2.0) == () and stable_rate_findings(0.1, 0.0, float("inf")) == ()
    (small,) = stable_rate_findings(0.19, 0.0, 2.0)
    assert small.values["ratio"] == pytest.approx(2.0 / 0.19)
    (tiny,) = stable_rate_findings(0.019, 0.0, 2.0)
    assert tiny.level > small.level and (stable_rate_findings(0.021, 0.0, 2.0)[0].level == small.level)
    pace = (1 + 0.5) / (1 - 0.5) / 2.0  # of a learning rate of 1
    assert stable_rate_findings(0.101 / pace, 0.5, 2.0) == ()
    assert kinds(stable_rate_findings(0.099 / pace, 0.5, 2.0)) == kinds((small,))


def found(falls, start=1.0, reached=None):
    return learning_rate_findings(falls, start=start, lr=0.1, steps=30, fall_in_whole_run=reached)


def test_a_rate_is_too_large_if_a_smaller_one_does_five_times_better():
    assert kinds(found({0.1: 0.5, 1.0: 0.099})) == ["learning-rate-too-large"]
    assert found({0.1: 0.5, 1.0: 0.101}) == ()
    assert kinds(found({0.1: 0.101, 1.0: 0.01})) == ["learning-rate-too-large"]
    assert found({0.1: 0.099, 1.0: 0.01}) == ()  # less than a tenth of the loss is no comparison
    assert found({0.1: 0.5, 1.0: 0.05}, reached=0.5) == () and found({0.1: 0.5, 1.0: 0.05}, reached=0.49) != ()
    assert kinds(found({0.1: 0.01, 1.0: -0.2}, reached=-0.11)) == ["learning-rate-too-large"]
    assert found({0.1: 0.01, 1.0: -0.2}, reached=-0.09) == ()
    (stated,) = found({0.1: 0.5, 0.01: 0.3, 1.0: float("nan")})
    assert stated.values["other"] == pytest.approx(0.01) and stated.values["best"] == -0.5
    (alone,) = found({1.0: float("nan")})
    assert alone.values["other"] == pytest.approx(0.001)


def test_a_rate_is_too_small_if_a_larger_one_does_fifty_times_better():
    assert kinds(found({1.0: 0.0099, 10.0: 0.5})) == ["learning-rate-too-small"]
    assert found({1.0: 0.0101, 10.0: 0.5}) == ()
    assert kinds(found({1.0: 0.0199, 10.0: 0.5}, reached=0.0199)) == ["learning-rate-too-small"]
    assert found({1.0: 0.0201, 10.0: 0.5}, reached=0.0201) == ()
    assert found({1.0: 0.0099, 10.0: 0.5}, reached=0.251) == () and found({1.0: 0.0099, 10.0: 0.5}, reached=0.249) != ()
    assert found({1.0: 0.0001, 10.0: 0.09}) == ()  # two runs and no tenth of the loss
    assert kinds(found({1.0: 0.0001, 10.0: 0.001, 100.0: 0.09})) == ["learning-rate-too-small"]
    (stated,) = found({1.0: 0.0099, 10.0: 0.4, 100.0: 0.5})
    assert stated.values["other"] == pytest.approx(10.0) and stated.values["best"] == 0.5
