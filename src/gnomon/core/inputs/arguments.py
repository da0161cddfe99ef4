"""Handles model inputs, which are one tensor, a tuple of arguments, or a dict of named arguments.

The first axis of every tensor counts the examples; whatever is not a tensor is handed over unchanged.

>>> import torch
>>> x = {"ids": torch.zeros(5, 7), "scale": 2.0}
>>> count_examples(x), take_examples(x, torch.tensor([0, 1]))["ids"].shape
(5, torch.Size([2, 7]))
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError
from gnomon.core.inputs.arrays import Table, as_tensor

__all__ = [
    "Inputs",
    "count_examples",
    "detached_on_device_of",
    "take_examples",
    "input_tensors",
    "to_device_and_dtype_of",
    "map_tensors",
    "with_channels_last",
]

Inputs = Tensor | np.ndarray | Table | tuple[Any, ...] | list[Any] | Mapping[str, Any]
"""How a module is called: module(x), module(*x) for a tuple or list, module(**x) for a dict. A table is one x."""


def count_examples(x: Inputs) -> int:
    """Returns the number of examples in the model inputs x; raises an error if tensors disagree or none has examples.

    >>> count_examples((torch.zeros(3, 2), torch.zeros(3)))
    3
    """
    sizes = {len(t) for t in input_tensors(x)}
    if len(sizes) != 1:
        found = "no tensor with an example axis" if not sizes else f"tensors of {sorted(sizes)} examples"
        raise InputError(
            f"x holds {found}",
            accepted="tensors whose first axis counts examples",
            fix="Give every tensor the same number of rows",
        )
    n = sizes.pop()
    if n == 0:
        raise InputError("x holds 0 examples", accepted="at least one example", fix="Pass a batch that is not empty")
    return n


def input_tensors(x: Any) -> Iterator[Tensor]:
    """Yields all tensors in the model inputs x that have one row per example, in the order of the arguments.

    >>> len(list(input_tensors({"a": torch.zeros(2), "b": (torch.zeros(2), 1.0)})))
    2
    """
    if isinstance(x, Tensor):
        if x.dim() > 0:
            yield x
    elif isinstance(x, Mapping):
        for value in x.values():
            yield from input_tensors(value)
    elif isinstance(x, (tuple, list)):
        for value in x:
            yield from input_tensors(value)


def map_tensors(function: Callable[[Tensor], Tensor], x: Any) -> Any:
    """Applies a function to each tensor in the model inputs x; returns the results in the same structure as x.

    Cost: one call of the function per tensor.

    >>> map_tensors(lambda t: t + 1, (torch.zeros(1), "left"))
    (tensor([1.]), 'left')
    """
    if isinstance(x, Tensor):
        return function(x) if x.dim() > 0 else x
    if isinstance(x, np.ndarray | Table):
        return map_tensors(function, as_tensor(x))
    if isinstance(x, Mapping):
        return {key: map_tensors(function, value) for key, value in x.items()}
    if isinstance(x, (tuple, list)):
        return tuple(map_tensors(function, value) for value in x)
    return x


def take_examples(x: Inputs, index: Tensor | slice) -> Inputs:
    """Selects examples of the model inputs x by indices or a slice; the result is contiguous in memory, as many modules
    require.

    Cost: a copy of the examples at an index; none for a slice of contiguous tensors.

    >>> take_examples(torch.arange(5), slice(1, 3))
    tensor([1, 2])
    """
    return map_tensors(lambda t: _contiguous(t[index]), x)


def _contiguous(t: Tensor) -> Tensor:
    """Returns the tensor in contiguous memory; images in channels-last format stay unchanged."""
    return t if t.dim() == 4 and t.is_contiguous(memory_format=torch.channels_last) else t.contiguous()


def detached_on_device_of(x: Inputs, module: nn.Module) -> Inputs:
    """Detaches inputs from the autograd graph, and moves them to the module's device and floating-point dtype.

    >>> detached_on_device_of(torch.zeros(2, 3, dtype=torch.float64), nn.Linear(3, 1)).dtype
    torch.float32
    """
    # Tensors created in inference mode are cloned, because autograd cannot save them.
    return to_device_and_dtype_of(map_tensors(lambda t: t.clone() if t.is_inference() else t.detach(), x), module)


def to_device_and_dtype_of(x: Inputs, module: nn.Module) -> Inputs:
    """Moves inputs to the module's device and floating-point dtype, and keeps their gradients.

    Cost: a copy of the tensors that are converted.

    >>> to_device_and_dtype_of(torch.zeros(1, dtype=torch.float64, requires_grad=True), nn.Linear(1, 1)).requires_grad
    True
    """
    parameters = [p for p in module.parameters() if p.is_floating_point()]
    if not parameters:
        return map_tensors(lambda t: t, x)
    device, known = parameters[0].device, {p.dtype for p in parameters}

    def fit(t: Tensor) -> Tensor:
        strange = t.is_floating_point() and t.dtype not in known
        return t.to(device, parameters[0].dtype if strange else t.dtype)

    return map_tensors(fit, x)


def with_channels_last(x: Inputs) -> Inputs:
    """Returns the model inputs with all images in channels-last memory format.

    Cost: a copy of the images that are laid out otherwise.

    >>> with_channels_last(torch.zeros(2, 3, 4, 5)).stride()
    (60, 1, 15, 3)
    """

    def arrange(t: Tensor) -> Tensor:
        image = t.dim() == 4 and t.is_floating_point()
        return t.contiguous(memory_format=torch.channels_last) if image else t

    return map_tensors(arrange, x)
