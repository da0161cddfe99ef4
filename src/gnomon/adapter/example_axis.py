"""Moves the batch dimension of a module's outputs to the front.

Some published modules return one row per position of all examples, (n * positions, k), as if the batch were one long
sequence; others return steps first, (steps, n, k), as the loss of CTC expects. The axis is found by passing two and
three examples. A user's loss still gets what the module returns.

>>> import torch
>>> x = torch.zeros(4, 5, 2)
>>> axis = find_example_axis(nn.Flatten(0, 1), x)
>>> net = with_examples_first(nn.Flatten(0, 1), axis)
>>> axis.positions, net(x).shape, restore_outputs(net(x), axis).shape
(5, torch.Size([4, 5, 2]), torch.Size([20, 2]))
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from gnomon.adapter.view import ModuleView
from gnomon.core.errors import InputError
from gnomon.core.inputs.arguments import Inputs, count_examples, take_examples
from gnomon.core.inputs.checks import check_module_is_callable, to_dense_tensors
from gnomon.core.modules.preserve import preserve
from gnomon.core.modules.run import run_module

__all__ = ["ExampleAxis", "LossOfReturned", "find_example_axis", "restore_outputs", "with_examples_first"]


@dataclass(frozen=True, slots=True)
class ExampleAxis:
    """Describes which dimension of a module's outputs is the batch: the second one, or the first one merged with
    positions.
    """

    positions: int = 0


class ExamplesFirstView(ModuleView):
    """Wraps a module so that the batch dimension of its outputs comes first."""

    def __init__(self, module: nn.Module, axis: ExampleAxis) -> None:
        super().__init__(module)
        self.axis = axis

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Runs the wrapped module and moves the batch dimension of its outputs to the front."""
        returned: Tensor = self.module_of_view(*args, **kwargs)
        if not self.axis.positions:
            return returned.transpose(0, 1)
        return returned.reshape(count_examples(kwargs or args), -1, *returned.shape[1:])


@dataclass(frozen=True, slots=True)
class LossOfReturned:
    """Wraps a user's loss: undoes the change of output layout, so that the loss gets outputs as the user's module
    returns them.
    """

    loss: Callable[..., Any]
    axis: ExampleAxis

    @property
    def name(self) -> str:
        """Returns the name of the wrapped loss function."""
        return getattr(self.loss, "__name__", type(self.loss).__name__)

    def __call__(self, outputs: Tensor, y: Tensor) -> Any:
        """Restores the user's layout of the outputs, then returns the user's loss of outputs and targets."""
        return self.loss(restore_outputs(outputs, self.axis), y)


def find_example_axis(module: nn.Module, x: Inputs) -> ExampleAxis | None:
    """Determines the batch dimension of a module's outputs; returns None if it is the first one or if there is none.

    Cost: two forward passes on at most three examples.

    >>> import torch
    >>> find_example_axis(nn.Linear(2, 1), torch.zeros(3, 2)) is None
    True
    """
    try:
        check_module_is_callable(module)
        inputs = to_dense_tensors(x)
        if count_examples(inputs) < 3:
            return None
        with preserve(module, grad=False, seed=0):
            two, three = (run_module(module, take_examples(inputs, slice(0, n))) for n in (2, 3))
    except InputError:  # The function that uses the module reports the error.
        return None
    if not isinstance(two, Tensor) or not isinstance(three, Tensor) or two.dim() < 2 or two.dim() != three.dim():
        return None
    first, rest = (len(two), len(three)), (two.shape[1:], three.shape[1:])
    if first[0] > 2 and first[0] * 3 == first[1] * 2 and rest[0] == rest[1]:
        return ExampleAxis(first[0] // 2)
    steps_first = (
        first[0] == first[1] and two.shape[1] == 2 and three.shape[1] == 3 and two.shape[2:] == three.shape[2:]
    )
    return ExampleAxis() if steps_first else None


def with_examples_first(module: nn.Module, axis: ExampleAxis | None) -> nn.Module:
    """Wraps a module so that the batch dimension of its outputs comes first; returns the module unchanged if ``axis``
    is None.

    >>> net = nn.Linear(1, 1)
    >>> with_examples_first(net, None) is net
    True
    """
    return module if axis is None else ExamplesFirstView(module, axis)


def restore_outputs(outputs: Tensor, axis: ExampleAxis) -> Tensor:
    """Moves the batch dimension of outputs from the front back to the place that the user's module gives it.

    >>> import torch
    >>> restore_outputs(torch.zeros(2, 5, 3), ExampleAxis()).shape
    torch.Size([5, 2, 3])
    """
    return outputs.flatten(0, 1) if axis.positions else outputs.transpose(0, 1)
