"""Which layer is blamed, and with which numbers, for signals whose sizes are powers of ten."""

from dataclasses import replace
from math import log

import pytest
import torch
from torch import nn

from gnomon.checks import signal_propagation
from gnomon.checks.network.layer import BackwardStatistics, ForwardStatistics, LayerSignal
from gnomon.checks.network.signal_findings import signal_findings
from gnomon.core.results import Level
from gnomon.findings import network as rows_of

PLAIN = LayerSignal("0", "Linear", "nonzero", 8, 8, ForwardStatistics(1.0, 0.0, 0.0), BackwardStatistics(1.0, 1.0))


def layers(*powers):
    """Healthy layers but for the mean squares of their activations, powers of ten."""
    return tuple(
        replace(PLAIN, name=str(i), forward=ForwardStatistics(10.0**p, 0.0, 0.0)) for i, p in enumerate(powers)
    )


@pytest.mark.parametrize("powers, blamed", [((0, -2, -6, -8, -10), ""), ((0, -1, -7, -8, -10), "2")])
def test_a_layer_is_blamed_alone_where_it_makes_more_than_half_of_the_change(powers, blamed):
    (finding,) = signal_findings(layers(*powers))
    assert finding.kind == "vanishing-activations" and finding.where == blamed and finding.level is Level.PROBLEM
    each = "by 0.0032 from layer to layer in 5 layers (variance of the weights: unknown)"  # 10^(-10 / 4), in four steps
    by = "by 1e-06 at '2' alone" if blamed else each
    way = "from the first layer to the last"
    change = "the mean squared output changes by a factor of 1.0e-10"
    assert finding.message == f"Vanishing activations: {change} {way}, {by}."
    assert [value.value for value in finding.evidence] == [pytest.approx(1e-10), 1e4]


@pytest.mark.parametrize("power, keys", [(4.01, ["exploding-activations"]), (3.99, [])])
def test_ten_thousand_is_what_squares_may_change_by(power, keys):
    assert [f.kind for f in signal_findings(layers(0, 2, power))] == keys


@pytest.mark.parametrize("size, blamed", [(1000, ["1"]), (8, [])])
def test_a_narrow_layer_behind_which_a_bias_hides_is_found_by_sums_over_its_outputs(size, blamed):
    """Gradients before it sum to 8 x 1e-3, and behind it to its size: a ratio above 1e4, or below."""
    before = replace(PLAIN, backward=BackwardStatistics(1e-3, 1.0))
    narrow = replace(PLAIN, name="1", forward=ForwardStatistics(1e-5, 0.0, 0.0), size=size)
    findings = signal_findings((before, narrow, replace(PLAIN, name="2")))
    assert [f.where for f in findings] == blamed


@pytest.mark.parametrize(
    "change, kind, level",
    [
        (dict(forward=ForwardStatistics(None, None, None)), "not-finite", Level.PROBLEM),
        (dict(forward=ForwardStatistics(1.0, 0.0, 0.51)), "dead-units", Level.PROBLEM),
        (dict(forward=ForwardStatistics(1.0, 0.99, 0.69), units=128), "dead-units", Level.PROBLEM),
        (
            dict(forward=ForwardStatistics(1.0, 0.99, 0.66), units=128),
            None,
            None,
        ),  # alike: four deviations, up to 0.677
        (
            dict(forward=ForwardStatistics(0.0, 0.0, 1.0), kind="BatchNorm2d", weights="none"),
            None,
            None,
        ),  # a scale of zero
        (dict(forward=ForwardStatistics(1.0, 0.0, 1.0)), "dead-units", Level.PROBLEM),
        (dict(forward=ForwardStatistics(1.0, 0.0, 0.5)), None, None),
        (dict(weights="zero"), "zero-weights", Level.NOTE),  # of the last layer
    ],
)
def test_each_measurement_has_its_threshold(change, kind, level):
    findings = signal_findings((replace(PLAIN, **change),))
    assert [(f.kind, f.level, f.where) for f in findings] == ([] if kind is None else [(kind, level, "0")])


@pytest.mark.parametrize("square, kinds", [(100.0, []), (101.0, ["input-scale"]), (1e-4, []), (9e-5, ["input-scale"])])
def test_inputs_have_a_range(square, kinds):
    findings = signal_findings((PLAIN,), square)
    assert [f.kind for f in findings] == kinds and all(f.where == "inputs" for f in findings)


def test_a_cause_comes_before_its_effects():
    """A dead activation before vanishing, that before a constant layer, and a layer that is zero alone."""
    fed = replace(PLAIN, name="2", forward=ForwardStatistics(1e-9, 0.0, 1.0))
    dying = (PLAIN, replace(fed, name="1", kind="ReLU", weights="none"), fed)
    assert [f.kind for f in signal_findings(dying)] == ["dead-units", "vanishing-activations"]
    assert [f.kind for f in signal_findings((PLAIN, fed))] == ["vanishing-activations", "dead-units"]
    zero = (PLAIN, *(replace(PLAIN, name=n, forward=ForwardStatistics(1e-9, 0.0, 0.0)) for n in "12"))
    zero = (replace(PLAIN, weights="zero"), *zero[1:])
    assert [f.kind for f in signal_findings(zero)] == ["zero-weights"]


def test_rates_are_those_of_multiples_of_the_identity():
    """Weights 2 I multiply squares by 4 forwards at each of five layers after the first, and backwards."""
    net = nn.Sequential(*(nn.Linear(3, 3, bias=False) for _ in range(6)))
    for layer in net:
        layer.weight.data.copy_(2 * torch.eye(3))
    result = signal_propagation(net, torch.randn(10, 3))
    assert result.rate() == pytest.approx(log(4), rel=1e-6)
    assert result.rate("gradient") == pytest.approx(-log(4), rel=1e-6)


@pytest.mark.parametrize("beside, kinds", [(1.0, []), (1e-9, ["vanishing-gradients"])])
def test_queries_and_keys_without_a_gradient_are_no_fault_while_the_layers_beside_them_have_one(beside, kinds):
    """Attention that is almost even, as transformers start with, gives queries and keys hardly any gradient."""
    updates = [1e-11, 1e-11, 1e-4 * beside, beside, *[1.0] * 8]  # query, key, value, output; then later layers
    found = signal_findings(
        tuple(replace(PLAIN, name=str(i), backward=BackwardStatistics(1.0, u)) for i, u in enumerate(updates))
    )
    assert [f.kind for f in found] == kinds


def merging(*correlations):
    """Layers whose examples have these mean correlations, and a last layer, which does not count."""
    parts = [replace(PLAIN, name=str(i), forward=ForwardStatistics(1.0, c, 0.0)) for i, c in enumerate(correlations)]
    return (*parts, replace(PLAIN, name="last", forward=ForwardStatistics(1.0, 1.0, 0.0)))


@pytest.mark.parametrize(
    ("correlations", "level"),
    [
        ((0.5, 0.9, 1 - 1.1e-4), None),
        ((0.5, 0.9, 1 - 0.9e-4), "WARNING"),
        ((0.5, 0.9, 1 - 1.1e-6), "WARNING"),
        ((0.5, 0.9, 1 - 0.9e-6), "PROBLEM"),
        ((0.89, 0.9, 1.0), "PROBLEM"),
        ((0.91, 0.9, 1.0), None),  # they came in alike
        ((0.5, 1.0), None),  # too few layers
    ],
)
def test_inputs_merge_at_their_thresholds(correlations, level):
    found = [f for f in signal_findings(merging(*correlations)) if f.kind == "merged-inputs"]
    assert [(f.where, f.level.name) for f in found] == ([] if level is None else [("2", level)])


def test_each_fault_of_a_layer_has_its_row():
    found = []
    for change in (
        {"forward": ForwardStatistics(None, None, None)},
        {"forward": ForwardStatistics(1.0, 0.0, 0.6)},
        {"forward": ForwardStatistics(1.0, 0.0, 1.0)},
        {"forward": ForwardStatistics(1.0, 0.0, 1.0), "kind": "ReLU", "weights": "none"},
        {"weights": "zero"},
    ):
        (finding,) = signal_findings((replace(PLAIN, **change),))
        found.append(finding.row)
    rows = (rows_of.NOT_FINITE, rows_of.DEAD_UNITS, rows_of.CONSTANT_LAYER, rows_of.DEAD_LAYER, rows_of.ZERO_LAST_LAYER)
    assert tuple(found) == rows
    early = (PLAIN, replace(PLAIN, name="1", weights="zero"), replace(PLAIN, name="2"))
    silent = (replace(PLAIN, backward=BackwardStatistics(0.0, 0.0)), *early[1:])
    assert [f.row for f in signal_findings(silent)] == [rows_of.ZERO_WEIGHTS]
    assert signal_findings(early) == ()  # the layer before it has a gradient, by another way
    (scale,) = signal_findings((PLAIN,), 1e6)
    assert scale.kind == "input-scale" and [v.value for v in scale.evidence][0] == 1e6
    assert [f.row for f in signal_findings(layers(0, 3, 6))] == [rows_of.EXPLODING_ACTIVATIONS]


@pytest.mark.parametrize("last, kinds", [(2.6, []), (2.75, ["exploding-gradients"])])
def test_gradients_change_over_the_layers_before_the_head_by_two_thirds_of_the_range(last, kinds):
    """From the last layer to the first: 10^-2, 1, 10^last, of which the step at the head does not count."""
    powers = [last, 0.0, -2.0]  # in the order of the forward pass
    found = signal_findings(
        tuple(replace(PLAIN, name=str(i), backward=BackwardStatistics(1.0, 10.0**p)) for i, p in enumerate(powers))
    )
    assert [f.kind for f in found] == kinds


def test_relative_gradients_are_counted_for_each_unit_and_weight():
    """The update of a layer times its units over its fan: equal for these layers, which alone look as if they grew."""
    healthy = tuple(
        replace(PLAIN, name=str(i), units=u, fan=f, backward=BackwardStatistics(1.0, f / u))
        for i, (u, f) in enumerate(((10, 100_000.0), (10, 10.0), (1000, 10.0), (1000, 1.0)))
    )
    assert signal_findings(healthy) == ()
    grown = tuple(replace(layer, units=1, fan=1.0) for layer in healthy)
    assert [f.kind for f in signal_findings(grown)] == ["exploding-gradients"]
