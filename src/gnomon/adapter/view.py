"""A module whose outputs are chosen by the user, with the names of its layers unchanged.

>>> import torch
>>> net = nn.LSTM(2, 3, batch_first=True)
>>> last = select_output(net, lambda returned: returned[0][:, -1])
>>> last(torch.zeros(4, 5, 2)).shape, [name for name, _ in last.named_parameters()][:1]
(torch.Size([4, 3]), ['weight_ih_l0'])
"""

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor, nn

from gnomon.core.errors import InputError

__all__ = ["Output", "select_output"]

Output = str | int | Callable[[Any], Tensor]
"""Which part of what a module returns is its output: a name, a place, or a function."""

SHARED = ("_parameters", "_buffers", "_modules")
"""Tables that a view shares with its module, so that parameters and layers keep their names."""


class OutputView(nn.Module):
    """A view of a module that returns one part of what the module returns; layers and parameters are the module's."""

    def __init__(self, module: nn.Module, output: Output) -> None:
        super().__init__()
        object.__setattr__(self, "viewed", [module])  # in a list: as an attribute it would be a layer of its own
        self.output = output
        self.training = module.training
        for name in SHARED:
            vars(self)[name] = vars(module)[name]

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """The chosen part of what the module returns."""
        (module,) = vars(self)["viewed"]
        module.training = self.training
        returned = module(*args, **kwargs)
        return _chosen(returned, self.output)


def select_output(module: nn.Module, output: Output | None) -> nn.Module:
    """The module itself, or a view that returns the chosen part: a name ("logits"), a place (0), or a function.

    >>> net = nn.Linear(1, 1)
    >>> select_output(net, None) is net
    True
    """
    return module if output is None else OutputView(module, output)


def _chosen(returned: Any, output: Output) -> Tensor:
    try:
        if callable(output):
            found = output(returned)
        elif isinstance(output, int) or isinstance(returned, Mapping):
            found = returned[output]
        else:
            found = getattr(returned, output)
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        problem = f"output={output!r} is not in the {type(returned).__name__} that the module returned"
        raise InputError(
            problem, accepted="a name, a place or a function", fix="Look at what module(x) returns"
        ) from error
    if not isinstance(found, Tensor):
        problem = f"output={output!r} is a {type(found).__name__}"
        raise InputError(problem, accepted="a tensor", fix="Choose a tensor of what module(x) returns")
    return found
