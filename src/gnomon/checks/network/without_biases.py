"""Finds networks without any bias, whose outputs are zero for zero inputs.

Hypotheses: none; a network with a bias, a normalization with shift or a position has a constant.

>>> x = torch.randn(9, 2)
>>> has_no_constant(nn.Linear(2, 1, bias=False), x), has_no_constant(nn.Linear(2, 1), x)
(True, False)
"""

import torch
from torch import nn

from gnomon.core.inputs.arguments import Inputs, input_tensors, map_tensors, take_examples
from gnomon.core.modules.layer_classes import AFFINE_LAYERS
from gnomon.core.modules.outputs import run_to_rows
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Finding
from gnomon.findings import design as kinds

__all__ = ["has_no_constant", "missing_bias_findings"]


def missing_bias_findings(module: nn.Module, x: Inputs) -> tuple[Finding, ...]:
    """Reports a network without any bias; called if the network fits far worse than a simple model.

    Cost: two forward passes.

    >>> missing_bias_findings(nn.Linear(2, 1), torch.randn(9, 2))
    ()
    """
    return (Finding(kinds.NO_BIASES, "", {}, (), 0.0),) if has_no_constant(module, x) else ()


def has_no_constant(module: nn.Module, x: Inputs) -> bool:
    """Checks whether a network has no biases, so that zero inputs give zero outputs.

    Cost: two forward passes of two examples.

    >>> has_no_constant(nn.Linear(2, 1, bias=False), torch.ones(2, 2))
    True
    """
    layers = [part for part in module.modules() if isinstance(part, AFFINE_LAYERS)]
    few = take_examples(x, slice(0, 2))
    if not layers or any(part.bias is not None for part in layers):
        return False
    if not all(t.is_floating_point() for t in input_tensors(few)):
        return False
    with preserve(module, seed=0, grad=False):
        f, zero = run_to_rows(module, few), run_to_rows(module, map_tensors(torch.zeros_like, few))
    return bool(f.any()) and not bool(zero.any())
