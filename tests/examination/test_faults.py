"""Planted faults are result, and named first; healthy networks get a clean bill."""

import re
from functools import cache

import pytest
import torch
from torch import nn

from gnomon.core.results import Level
from gnomon.examination import STEPS
from gnomon.landscape import sharpness
from gnomon.training import SGD
from tests.examination.patients import cnn, data, examined, flat, perceptron, shuffled, zeroed

TRAIN, TEST = data()
FLAT = flat(TRAIN)


WITHOUT_LIMIT = tuple(step for step in STEPS if step.key != "limit")


def look(net, train=TRAIN, budget=60, steps=WITHOUT_LIMIT, **options):
    return examined(net, train, budget=budget, fit=False, examination_steps=steps, **options)


def first(result):
    """The key of the section and the finding that come first; the network is not healthy."""
    assert result.findings, str(result)
    assert not result.healthy and result.findings[0].level.name == "PROBLEM"
    return result.section_of(result.findings[0]).key, result.findings[0]


@cache
def tanh(depth, gain):
    return look(perceptron(depth, gain=gain), FLAT)


SLOW = [pytest.param(*of, marks=pytest.mark.full) for of in ((60, 0.5), (40, 0.6))]


@pytest.mark.full
@pytest.mark.parametrize("depth, gain", [(30, 0.5), *SLOW])
def test_a_deep_tanh_network_with_small_weights(depth, gain):
    key, finding = first(tanh(depth, gain))
    assert key == "signal" and "vanishing" in finding.kind and "1 / fan_in for tanh" in finding.fix
    assert float(re.search(r"weights: ([0-9.]+) / fan_in", finding.message)[1]) == pytest.approx(gain**2, rel=0.1)


@pytest.mark.full
def test_theory_says_how_deep_signals_reach():
    result = tanh(30, 0.5).section("signal")
    assert result.value("phase").value == "ordered"
    assert result.value("chi").value == pytest.approx(0.25, rel=0.1)  # weight_std^2 for tanh around zero
    assert [p.title for p in result.content.plots][-1] == "Similarity of two inputs after a layer" and len(
        result.content.plots
    ) == 3


@pytest.mark.full
def test_a_deep_relu_network_with_default_weights():
    torch.manual_seed(0)
    layers = [part for i in range(20) for part in (nn.Linear(64, 64), nn.ReLU())]
    key, finding = first(look(nn.Sequential(*layers, nn.Linear(64, 10)), FLAT))
    assert key == "signal" and "vanishing" in finding.kind and "2 / fan_in for ReLU" in finding.fix


@pytest.mark.full
def test_a_chaotic_network():
    key, finding = first(look(perceptron(40, gain=4.0), FLAT))
    assert key == "signal" and "exploding" in finding.kind


@pytest.mark.parametrize("factor", [3.0, pytest.param(10.0, marks=pytest.mark.full)])
def test_a_step_that_is_too_large(factor):
    """Curvature shows it at any factor; where short runs show it as well, theirs is the graver evidence."""
    net = cnn()
    limit = sharpness(net, (TRAIN[0][:128], TRAIN[1][:128])).largest_lr
    result = look(net, optimizer=SGD(factor * limit))
    key, finding = first(result)
    assert key in ("stability", "optimizer") and finding.kind == "learning-rate-too-large"
    assert [f.kind for f in result.problems] == ["learning-rate-too-large"]
    stability = result.section("stability")
    ratio = float(re.search(r"is ([0-9.]+)x above the stable limit", stability.answer)[1])
    assert stability.status == "problem" and ratio == pytest.approx(factor, rel=0.1)  # of other examples
    tried = [f.kind for f in (*result.section("optimizer").findings, *result.section("optimizer").stated_elsewhere)]
    assert (key == "optimizer") == ("learning-rate-too-large" in tried)
    cured = float(re.search(r"(?:lr=|at most )([0-9]+\.[0-9]+)", finding.fix)[1])
    assert cured <= 1.05 * limit  # two digits are printed


@pytest.mark.full
def test_a_step_with_momentum_that_is_too_large():
    net = cnn()
    limit = sharpness(net, (TRAIN[0][:128], TRAIN[1][:128]), momentum=0.9).largest_lr
    key, finding = first(look(net, optimizer=SGD(3 * limit, momentum=0.9)))
    assert key in ("stability", "optimizer") and "learning-rate" in finding.kind


@pytest.mark.full
def test_shuffled_labels():
    key, finding = first(look(cnn(), shuffled(TRAIN)))
    assert key == "kernel" and "shuffled" in finding.fix


@pytest.mark.full
def test_shuffled_labels_are_missed_as_rarely_as_is_stated_and_never_called_fine():
    """By chance one shuffle in twenty looks related to the inputs (`DOUBT`) and is then marked as not decided.

    The tangent kernel's test (1 %) and its predictions (3 deviations) miss at most 2 % more. Of 40 shuffles, 9 or more
    are missed in 1.6e-3 of all cases at a rate of 7 %.
    """
    steps = [step for step in STEPS if step.key in ("architecture", "kernel", "margins")]
    results = [look(cnn(), shuffled(TRAIN, seed), steps=steps) for seed in range(40)]
    named = [[f.kind for f in result.problems] == ["labels-unrelated"] for result in results]
    assert named.count(False) < 9
    related = [result.section("kernel").status == "good" for result in results]
    assert sum(related) < 5  # at 2 %, 5 or more in 1.2e-3 of all cases
    assert not any(result.healthy for result in results)  # nothing was trained, so all perform like a guess


@pytest.mark.parametrize("name", ["2", pytest.param("0", marks=pytest.mark.full)])
def test_a_layer_of_zeros(name):
    key, finding = first(look(zeroed(cnn(), name)))
    assert key == "signal" and f"'{name}'" in finding.message and "zero" in finding.message


@pytest.mark.full
@pytest.mark.parametrize("scale", [1000.0, 1e-4])
def test_inputs_of_another_size(scale):
    key, finding = first(look(cnn(), (TRAIN[0] * scale, TRAIN[1])))
    assert key == "data" and "Standardize" in finding.fix


@pytest.mark.parametrize("make", [cnn, lambda: perceptron(2, act=nn.ReLU, gain=2**0.5)], ids=["cnn", "mlp"])
def test_a_healthy_network_that_is_not_trained_yet_has_no_fault_and_no_clean_bill(make):
    net = make()
    x = TRAIN if isinstance(net[0], nn.Conv2d) else FLAT
    result = look(net, x)
    assert result.findings[0].kind == "untrained" and not result.problems, str(result)
    assert all(finding.level is Level.NOTE for finding in result.findings[1:]), str(result)
    assert not result.healthy and "performs like random guessing because nothing was trained" in result.verdict


def test_a_healthy_regression():
    g = torch.Generator().manual_seed(0)
    x = torch.randn(200, 5, generator=g)
    result = look(perceptron(2, inputs=5, outputs=1), (x, x[:, 0].sin() + 0.1 * x[:, 1]), steps=STEPS)
    assert [f.kind for f in result.findings] == ["untrained"], str(result)
    limit = result.section("limit")  # its cost is measured in true time: on a busy machine it may not be affordable
    assert limit.status == "skipped" or limit.value("leave-one-out-error").value < 0.5


@pytest.mark.full
def test_training_a_healthy_network_stays_clean():
    result = examined(cnn, TRAIN, TEST, budget=40)
    assert result.healthy, str(result)
    assert result.section("training").value("test-accuracy").value > 0.8
    assert result.section("regime").status == "good"
