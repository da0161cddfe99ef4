"""Captures the input of the first layer with weights, to find out whether the network normalizes its inputs itself.

Batch norm as the first layer, or ``x / 255`` in ``forward``, takes away what is wrong with the scale of the inputs.
What counts is the scale at the first layer that multiplies by weights, in training mode, for batch norm has not yet
learned its statistics.

Reference: [lecun1998efficient], section 4.3, on the scale of inputs.

>>> net = nn.Sequential(nn.BatchNorm1d(2), nn.Linear(2, 1))
>>> input_of_first_layer(net, 1000 * torch.randn(50, 2)).std().round(decimals=1)
tensor(1.)
"""

from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.inputs.arguments import Inputs, count_examples, input_tensors
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.layer_classes import AFFINE_LAYERS
from gnomon.core.modules.preserve import random_state
from gnomon.core.modules.run import run_module

__all__ = ["input_of_first_layer"]

WEIGHTED = (*AFFINE_LAYERS, nn.RNNBase, nn.Bilinear)


def input_of_first_layer(module: nn.Module, x: Inputs) -> Tensor | None:
    """Returns what the first layer with weights gets as input; None if such a layer does not exist or mixes examples.

    Cost: a forward pass of a copy.

    >>> input_of_first_layer(nn.ReLU(), torch.zeros(3, 1)) is None
    True
    """
    seen: list[Tensor] = []

    def look(part: nn.Module, args: Any, kwargs: Any) -> None:
        given = next(input_tensors((args, kwargs)), None)
        if given is not None and given.is_floating_point():
            seen.append(given.detach().clone())

    model = copy_module(module).train()
    for part in model.modules():
        if isinstance(part, WEIGHTED):
            part.register_forward_pre_hook(look, with_kwargs=True)
    with random_state(0), torch.no_grad():
        run_module(model, x)
    return seen[0] if seen and len(seen[0]) == count_examples(x) else None
