"""The inputs that an instrument looks at: those it is given, or the first of data that come in batches."""

from typing import Any

from torch import Tensor, nn

from gnomon.core.inputs.arguments import Inputs
from gnomon.core.inputs.source import source_of_inputs

__all__ = ["some"]

MAX_EXAMPLES = 64
"""Sequences used, at most."""


def some(x: Any, module: nn.Module) -> Inputs:
    """Inputs in memory as they are; of a data set, a loader or another source of batches the first 64 examples.

    Cost: that of reading them.

    >>> import torch
    >>> some(iter([(torch.zeros(3, 2), torch.zeros(3))]), nn.Linear(2, 1)).shape
    torch.Size([3, 2])
    """
    if isinstance(x, Tensor | tuple | dict):
        return x
    return source_of_inputs(x, module).first(MAX_EXAMPLES).x
