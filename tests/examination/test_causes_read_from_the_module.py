"""Advice that reads the module, the optimizer and the run, and text that follows from fixes that were tried."""

import pytest
import torch
from torch import nn

from gnomon.core.results import Finding, Interval
from gnomon.examination.advice import advice_for_underfit
from gnomon.examination.fixes.tried import TriedFix, TriedFixes, advice_after_trials
from gnomon.examination.signal_causes import find_signal_cause
from gnomon.findings import network, training
from gnomon.training import SGD, Adam, train

X = torch.randn(64, 4, generator=torch.Generator().manual_seed(0))
Y = (X[:, 0] > 0).long()


def run_of(net, steps, optimizer=None, batch=16):
    return train(net, (X, Y), optimizer=optimizer or Adam(), steps=steps, batch=batch)


def advice(net, steps=400, **options):
    run = run_of(net, steps, **options)
    return advice_for_underfit(run.model, run, examples=len(X))


def test_a_short_run_says_how_short_it_was():
    said = advice(nn.Linear(4, 2), steps=6, batch=64)
    assert "only 6 steps" in said and "instead of 64 of 64 examples" in said


def test_dropout_and_weight_decay_are_named_only_if_there_are_any():
    plain = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    assert "dropout" not in advice(plain) and "weight_decay" not in advice(plain)
    assert "dropout rate, now 0.9" in advice(nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.9), nn.Linear(8, 2)))
    assert "weight_decay, now 0.5" in advice(plain, optimizer=SGD(0.01, decay=0.5))


def test_deep_sigmoid_networks_are_told_to_use_relu():
    layers = [layer for _ in range(4) for layer in (nn.Linear(4, 4), nn.Sigmoid())]
    assert "ReLU instead of sigmoid in the 4 hidden layers" in advice(nn.Sequential(*layers, nn.Linear(4, 2)))


def test_the_activation_is_named_as_the_cause_of_a_vanishing_signal():
    layers = [layer for _ in range(5) for layer in (nn.Linear(4, 4), nn.Sigmoid())]
    values = {"total": 1e-9, "factor": 0.02, "layers": 6, "variance": "0.33 / fan_in", "gain": 0.33}
    finding = Finding(network.VANISHING_GRADIENTS, "", values)
    assert "ReLU instead of sigmoid" in find_signal_cause(finding, nn.Sequential(*layers, nn.Linear(4, 2)), X).fix
    small = Finding(network.VANISHING_GRADIENTS, "", values | {"gain": 1e-4})
    tanh = nn.Sequential(*(layer for _ in range(5) for layer in (nn.Linear(4, 4), nn.Tanh())))
    assert find_signal_cause(small, tanh, X) is small  # tiny weights are the cause here
    assert find_signal_cause(finding, nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)), X) is finding


@pytest.mark.parametrize("bias, named", [(-8.0, True), (0.0, False), (-0.3, False)])
def test_biases_are_named_as_the_cause_of_dead_units(bias, named):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    nn.init.constant_(net[0].bias, bias)
    finding = Finding(network.DEAD_LAYER, "1", {"share": 1.0, "units": 8, "layer": "ReLU"})
    assert ("biases to zero" in find_signal_cause(finding, net, X).fix) is named


def tried(words, low, high):
    return TriedFix("not-learning", words, words, "", 0.3, 0.3 + (low + high) / 2, Interval(low, high, 0.95), "accuracy",
                    400, 300)  # fmt: skip


def test_the_proven_fix_is_the_advice_and_useless_ones_are_said_to_be():
    finding = Finding(training.NOT_LEARNING, "", {"train": 0.1, "guess": 0.1, "simple": 0.9, "advice": "Look around."})
    good, useless = tried("lr=0.1", 0.5, 0.6), tried("Adam", -0.1, 0.1)
    assert advice_after_trials(finding, TriedFixes((useless, good)), several=True) == "Train with lr=0.1."
    assert advice_after_trials(finding, TriedFixes((good,)), several=False) == "Look around."
    assert (
        advice_after_trials(finding, TriedFixes((useless,)), several=True)
        == "Look around. Tried without a clear gain: Adam."
    )
    assert advice_after_trials(finding, TriedFixes(()), several=True) == "Look around."
