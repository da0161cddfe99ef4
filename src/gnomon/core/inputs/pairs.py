"""Decides whether a user's tuple, list or dict is data with targets, or the arguments of one call of a module."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from gnomon.core.inputs.checks import is_array
from gnomon.core.inputs.rows import accepts_argument, target_column
from gnomon.core.inputs.signature import most_positional_arguments

__all__ = ["is_data_with_targets", "is_input_target_pair"]


def is_input_target_pair(data: Any) -> bool:
    """Checks whether ``data`` is one pair (inputs, targets), and not a list of two batches.

    >>> import torch
    >>> is_input_target_pair((torch.zeros(2, 1), torch.zeros(2))), is_input_target_pair([{"x": 1}, {"x": 2}])
    (True, False)
    """
    if not isinstance(data, tuple | list) or len(data) != 2:
        return False
    return data[1] is None or isinstance(data[1], Tensor) or is_array(data[1]) or _is_list_of_numbers(data[1])


def is_data_with_targets(x: Any, module: nn.Module) -> bool:
    """Checks whether a tuple, list or dict holds data with targets, and not the arguments of one call of the module.

    >>> import torch
    >>> pair = torch.zeros(2, 1), torch.zeros(2)
    >>> is_data_with_targets(pair, nn.Linear(1, 1)), is_data_with_targets(pair, nn.Bilinear(1, 1, 1))
    (True, False)
    """
    if is_input_target_pair(x):
        return isinstance(x[0], tuple | list | Mapping) or most_positional_arguments(module) == 1
    if isinstance(x, Mapping):
        target = target_column(x)
        return target is not None and len(x) > 1 and not accepts_argument(module, target)
    return isinstance(x, list) and len(x) > 0 and all(isinstance(batch, tuple | Mapping) for batch in x)


def _is_list_of_numbers(y: Any) -> bool:
    """Checks whether y is a (nested) list of numbers; a batch would hold tensors or arrays instead."""
    if isinstance(y, tuple | list) and y:
        return isinstance(y[0], int | float) or _is_list_of_numbers(y[0])
    return False
