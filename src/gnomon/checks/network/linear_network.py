"""Finds networks without an activation function: they compute a linear function, whatever their number of layers.

For a function with f(x) = A x + b, and for any weights that sum to one,

    f(3 x_i - x_j - x_k) = 3 f(x_i) - f(x_j) - f(x_k)                                                          (1)

An activation breaks (1). Probabilities at the end are turned back into logits first.

Hypotheses: eval mode, inputs that are real numbers.

>>> import torch
>>> computes_linear_function(nn.Sequential(nn.Linear(2, 8), nn.Linear(8, 1)), torch.randn(20, 2))
True
>>> computes_linear_function(nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1)), torch.randn(20, 2))
False
"""

from functools import partial

import torch
from torch import Tensor, nn

from gnomon.core.inputs.arguments import Inputs, count_examples, input_tensors, map_tensors, take_examples
from gnomon.core.modules.layer_classes import AFFINE_LAYERS
from gnomon.core.modules.outputs import run_to_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Finding
from gnomon.findings import design as kinds

__all__ = ["computes_linear_function", "linear_network_findings"]

EXAMPLES_IN_PASS = 32
"""Examples on which (1) is tested."""
MIN_EXAMPLES = 4
"""Fewest examples for a test of (1)."""
MAX_RELATIVE_DIFFERENCE = 1e-3
"""Largest difference of the two sides of (1), in units of the spread of the outputs; rounding is a tenth of it."""


def linear_network_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Reports a network that computes only a linear function of its inputs.

    Hypotheses: a nonlinear simple model does far better than the trained network.
    Cost: four forward passes of 32 examples.

    >>> import torch
    >>> linear_network_findings(nn.Linear(2, 2), torch.randn(20, 2))[0].kind
    'no-activation'
    """
    if not computes_linear_function(module, x):
        return ()
    layers = sum(isinstance(part, AFFINE_LAYERS) for part in module.modules())
    row = kinds.NO_ACTIVATION if layers > 1 else kinds.ONE_LAYER
    return (Finding(row, "", {"layers": layers}, (), 0.0),)


def computes_linear_function(module: nn.Module, x: Inputs) -> bool:
    """Checks whether a network computes a linear function of its inputs, by testing it on combinations of examples.

    Cost: four forward passes of 32 examples.

    >>> import torch
    >>> computes_linear_function(nn.Tanh(), torch.randn(9, 4))
    False
    """
    few = take_examples(x, slice(0, EXAMPLES_IN_PASS))
    if count_examples(few) < MIN_EXAMPLES or not all(t.is_floating_point() for t in input_tensors(few)):
        return False
    second, third = (map_tensors(partial(torch.roll, shifts=k, dims=0), few) for k in (1, 2))
    pieces = zip(input_tensors(few), input_tensors(second), input_tensors(third), strict=True)
    mixed = iter([3 * a - b - c for a, b, c in pieces])
    with preserve(module, seed=0, grad=False):
        f = [_logits(run_to_rows(module, part)) for part in (few, second, third)]
        g = _logits(run_to_rows(module, map_tensors(lambda _: next(mixed), few)))
    expected = 3 * f[0] - f[1] - f[2]
    spread = float((expected - expected.mean(0)).abs().max())
    apart = float((g - expected).abs().max())
    return spread > 0 and apart <= MAX_RELATIVE_DIFFERENCE * spread


def _logits(f: Tensor) -> Tensor:
    """Converts outputs that are probabilities to logits; returns other outputs unchanged."""
    f = f.double()
    if f.shape[1] > 1 and bool((f > 0).all()) and bool(((f.sum(1) - 1).abs() < 1e-4).all()):
        return f.log() - f.log().mean(1, keepdim=True)
    if f.shape[1] == 1 and bool(((f > 0) & (f < 1)).all()):
        return f.logit()
    return f
