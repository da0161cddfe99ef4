"""Predicts how deep signals and gradients reach in a plain chain of layers, by mean-field theory."""

from math import inf
from statistics import median

from torch import nn

from gnomon.checks import mean_field
from gnomon.checks.network.meanfield import MeanField
from gnomon.expectations.compile_time import compile_seconds
from gnomon.program.laws import rms, weight_std
from gnomon.program.steps import Activation, Conv, Dense, Input, Program

__all__ = ["mean_field_of_module"]

PLAIN = (Input, Dense, Conv, Activation)
MIN_ACTIVATIONS = 2
"""Minimum number of activations in a chain."""


def mean_field_of_module(module: nn.Module, program: Program | None, *, seconds: float = inf) -> MeanField | None:
    """Predicts how signals and gradients change with depth in a module (mean-field theory); None unless its layers form
    a chain.

    Returns None as well if loops must be compiled first and compiling would take more than ``seconds``.

    Hypotheses: one activation throughout, and no sums, normalizations or poolings between layers.
    Cost: 0.1 s; up to 7 s more at the first use on a machine.

    >>> import torch
    >>> from gnomon.program import read_program
    >>> net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
    >>> for part in net[::2]:
    ...     _ = nn.init.constant_(part.weight, (2 / part.in_features) ** 0.5), nn.init.zeros_(part.bias)
    >>> round(mean_field_of_module(net, read_program(net, torch.zeros(2, 4))).chi, 6)  # weight_std^2 / 2 for ReLU
    1.0
    """
    if program is None or not all(isinstance(step.op, PLAIN) for step in program.steps):
        return None
    leaves = [part for part in module.modules() if not list(part.children())]
    activations = [p for p in leaves if type(p).__module__ == "torch.nn.modules.activation"]
    kinds = {repr(part) for part in activations}
    if len(kinds) != 1 or len(activations) < MIN_ACTIVATIONS or any(True for _ in activations[0].parameters()):
        return None
    if compile_seconds(activations[0]) > seconds:
        return None
    weight = median(weight_std(p.weight) for p in leaves if isinstance(p, nn.Linear | nn.Conv1d | nn.Conv2d))
    biases = [rms(p) for name, p in module.named_parameters() if name.endswith("bias")]
    bias = median(biases) if biases else 0.0
    return mean_field(activations[0], weight_std=weight, bias_std=bias) if weight > 0 else None
