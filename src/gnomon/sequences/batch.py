"""Selects the inputs to measure: given tensors, or the first examples of batched data."""

from typing import Any

from torch import Tensor, nn

from gnomon.core.inputs.arguments import Inputs
from gnomon.core.inputs.source import as_input_source

__all__ = ["first_examples"]

MAX_EXAMPLES = 64
"""Maximum number of sequences used."""


def first_examples(x: Any, module: nn.Module) -> Inputs:
    """Returns inputs in memory unchanged, and the first 64 examples of a data set, loader or other source.

    Cost: reading the examples.

    >>> import torch
    >>> first_examples(iter([(torch.zeros(3, 2), torch.zeros(3))]), nn.Linear(2, 1)).shape
    torch.Size([3, 2])
    """
    if isinstance(x, Tensor | dict):
        return x
    given = as_input_source(x, module)
    if isinstance(x, tuple) and given.labels() is None:  # several arguments
        return x
    return given.first(MAX_EXAMPLES).x
