"""Finds out why signals vanish or units die: because of the activations between layers, or because of the biases."""

from dataclasses import replace
from typing import Any

from torch import nn

from gnomon.core.inputs.arguments import take_examples
from gnomon.core.modules.layer_classes import AFFINE_LAYERS
from gnomon.core.results import Finding
from gnomon.examination.fixes.rewrite import SIGMOID, TANH, count_calls
from gnomon.findings import network

__all__ = ["find_signal_cause"]

MIN_CALLS = 3
"""Fewest sigmoid or tanh layers that can make a signal vanish."""
LARGE_BIAS = 1.0
"""Mean bias below minus this value that is named; default biases are below 1 / sqrt(fan_in)."""
PROBE_EXAMPLES = 4
"""Examples in the pass that counts activations."""
USUAL_TANH_VARIANCE = 0.3
"""Variance of the weights times fan_in from which tanh layers pass the signal on; below it the weights are at fault."""
VANISHING = {
    network.VANISHING_ACTIVATIONS: network.BOUNDED_VANISHES,
    network.VANISHING_GRADIENTS: network.GRADIENTS_VANISH_IN_BOUNDED,
}
"""Rows of the table, and those that name the activation."""


def find_signal_cause(finding: Finding, module: nn.Module, x: Any) -> Finding:
    """Returns a more specific finding that says why signals vanish or units die, such as negative biases, if known.

    Cost: two forward passes of four examples for a signal that vanishes.

    >>> import torch
    >>> from gnomon.findings.network import DEAD_LAYER
    >>> net = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
    >>> _ = nn.init.constant_(net[0].bias, -8.0)
    >>> dead = Finding(DEAD_LAYER, "1", {"share": 1.0, "units": 3, "layer": "ReLU"})
    >>> found = find_signal_cause(dead, net, torch.ones(4, 2))
    >>> found.fix
    'Set the biases to zero: nn.init.zeros_(layer.bias).'
    """
    if finding.row in (network.DEAD_LAYER, network.DEAD_UNITS):
        bias = _bias_before(module, finding.where)
        if bias is not None and bias < -LARGE_BIAS:
            return replace(finding, row=network.DEAD_BY_BIAS, values={**finding.values, "bias": bias})
    if finding.row in VANISHING:
        few = take_examples(x, slice(0, PROBE_EXAMPLES))
        for functions, name in ((SIGMOID, "sigmoid"), (TANH, "tanh")):
            calls = count_calls(module, few, functions)
            small = name == "tanh" and (finding.values.get("gain") or 1.0) < USUAL_TANH_VARIANCE
            if calls >= MIN_CALLS and not small:
                values = {**finding.values, "calls": calls, "function": name}
                return replace(finding, row=VANISHING[finding.row], values=values)
    return finding


def _bias_before(module: nn.Module, where: str) -> float | None:
    """Returns the mean bias of the last layer with weights before a given layer."""
    last: float | None = None
    for name, part in module.named_modules():
        if isinstance(part, AFFINE_LAYERS) and part.bias is not None:
            last = float(part.bias.detach().mean())
        if name == where:
            return last
    return None
