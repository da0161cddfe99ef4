"""Rows of the table of layers, causes of vanishing signals, and designs that cannot fit, each threshold on both sides."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from gnomon.checks import signal_propagation
from gnomon.core.results import Finding
from gnomon.examination import layer_table as layers
from gnomon.examination import why_not_fitted
from gnomon.examination.signal_causes import find_signal_cause
from gnomon.examination.subject import build_subject
from gnomon.findings import network

X = torch.randn(16, 3, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(("bias", "found"), [(-0.9, False), (-1.1, True), (1.1, False)])
def test_units_die_of_a_mean_bias_below_minus_one(bias, found):
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    nn.init.constant_(net[0].bias, bias)
    nn.init.constant_(net[2].bias, -9.0)  # comes after the dead layer
    dead = Finding(network.DEAD_LAYER, "1", {"share": 1.0, "units": 4, "layer": "ReLU"})
    cause = find_signal_cause(dead, net, X)
    assert (cause.row == network.DEAD_BY_BIAS) is found
    if found:
        assert cause.values["bias"] == pytest.approx(bias)


@pytest.mark.parametrize(
    ("kind", "count", "gain", "found"),
    [(nn.Sigmoid, 3, 0.01, True), (nn.Sigmoid, 2, 0.01, False), (nn.Tanh, 3, 0.31, True), (nn.Tanh, 3, 0.29, False),
     (nn.Tanh, 2, 1.0, False), (nn.Tanh, 3, None, True)],
)  # fmt: skip
def test_three_bounded_layers_make_a_signal_vanish_unless_tanh_has_small_weights(kind, count, gain, found):
    net = nn.Sequential(*(part for _ in range(count) for part in (nn.Linear(3, 3), kind())))
    cause = find_signal_cause(Finding(network.VANISHING_GRADIENTS, "0", {"gain": gain}), net, X)
    assert (cause.row == network.GRADIENTS_VANISH_IN_BOUNDED) is found
    if found:
        assert (cause.values["calls"], cause.values["function"]) == (count, kind.__name__.lower())


def test_a_table_has_sixty_layers_and_those_with_parameters_come_first():
    for count, rows in ((30, 60), (31, 31)):
        net = nn.Sequential(*(part for _ in range(count) for part in (nn.Linear(3, 3), nn.Tanh())))
        (table,) = layers.layer_table(net, X, ())
        assert len(table.rows) == rows and table.rows[0][:3] == ("0 Linear", "3", 12)
    bare = nn.Sequential(*(nn.Tanh() for _ in range(61)))
    (table,) = layers.layer_table(bare, X, ())
    assert len(table.rows) == 60


def test_rows_hold_what_was_measured_of_each_layer():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
    (table,) = layers.layer_table(net, X, signal_propagation(net, X).layers)
    h = net[0](X).detach().double()
    rows = {row[0]: row for row in table.rows}
    assert rows["0 Linear"][:3] == ("0 Linear", "4", 16) and rows["1 ReLU"][1:3] == ("4", 0)
    assert rows["0 Linear"][3] == pytest.approx(float(h.square().mean()), rel=1e-4)
    assert all(row[6] > 0 for row in table.rows)


def test_frozen_layers_of_a_network_that_fits_badly_are_named_with_their_sizes():
    net = nn.Sequential(*(nn.Linear(3, 3) for _ in range(6)), nn.Linear(3, 2))
    for part in net[:5]:
        part.requires_grad_(False)
    data = X, torch.arange(16) % 2
    (found,) = why_not_fitted._frozen_layer_findings(build_subject(net, data, None, seed=0))
    assert found.where == "0" and found.values["size"] == 5 * 12
    assert found.values["names"] == "'0', '1', '2', '3'"
    free = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 2))
    assert why_not_fitted._frozen_layer_findings(build_subject(free, data, None, seed=0)) == ()


@pytest.mark.parametrize(("score", "poor"), [(0.89, True), (0.91, False)])
def test_four_fifths_of_the_errors_of_guessing_must_be_avoided(score, poor):
    assert why_not_fitted.is_poor(score, 0.5) is poor


@pytest.mark.parametrize(
    ("top", "epochs", "given", "found"), [(0.5, 3, None, True), (2.0, 3, None, False), (0.5, None, 2.6, True)]
)
def test_the_planned_rates_are_compared_with_the_rate_of_the_optimizer(top, epochs, given, found, monkeypatch):
    seen = {}

    def planned(schedule, lr, count):
        seen.update(lr=lr, count=count)
        return [top * lr / 10] * count

    monkeypatch.setattr(why_not_fitted, "planned_learning_rates", planned)
    subject = SimpleNamespace(recipe=SimpleNamespace(epochs=epochs, schedule=object()))
    run = SimpleNamespace(epochs=given, optimizer=SimpleNamespace(lr=0.2))
    assert bool(why_not_fitted._schedule_findings(subject, run)) is found
    assert seen == {"lr": 0.2, "count": 3}
