"""Wraps modules so that they return one chosen output; keeps names of layers and parameters.

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

__all__ = ["ModuleView", "OutputSelection", "original_module", "select_output"]

OutputSelection = str | int | Callable[[Any], Tensor]
"""Which part of what a module returns is its output: a name, a place, or a function."""

SHARED = ("_parameters", "_buffers", "_modules")
"""Tables that a view shares with its module, so that parameters and layers keep their names."""


class ModuleView(nn.Module):
    """Base class of wrappers that change a module's inputs or outputs; keeps the names of its layers and parameters.

    ``takes_same_inputs`` says that the view can be called like the module.
    """

    takes_same_inputs = False

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        # The module is kept in a list, because a plain attribute would register it as a submodule and change parameter
        # names.
        object.__setattr__(self, "viewed", [module])
        self.training = module.training
        for name in SHARED:
            vars(self)[name] = vars(module)[name]

    @property
    def module_of_view(self) -> nn.Module:
        """Returns the wrapped module in the wrapper's training or eval mode. The unusual method name avoids clashes
        with layers.
        """
        (module,) = vars(self)["viewed"]
        module.training = self.training
        return module


class OutputView(ModuleView):
    """A wrapper of a module that returns only one of the module's outputs."""

    def __init__(self, module: nn.Module, output: OutputSelection) -> None:
        super().__init__(module)
        self.output = output

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Runs the wrapped module and returns the chosen one of its outputs."""
        return _choose_output(self.module_of_view(*args, **kwargs), self.output)


def original_module(module: nn.Module) -> nn.Module:
    """Removes all wrappers that gnomon put around a module's inputs or outputs, and returns the user's own module.

    >>> net = nn.Linear(1, 1)
    >>> original_module(select_output(net, lambda out: out)) is net
    True
    """
    while isinstance(module, ModuleView) and not module.takes_same_inputs:
        module = module.module_of_view
    return module


def select_output(module: nn.Module, output: OutputSelection | None) -> nn.Module:
    """Returns a wrapper of the module that returns one of its outputs, chosen by key ("logits"), index (0) or function.

    >>> net = nn.Linear(1, 1)
    >>> select_output(net, None) is net
    True
    """
    return module if output is None else OutputView(module, output)


def _choose_output(returned: Any, output: OutputSelection) -> Tensor:
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
            problem, accepted="a key, an index or a function", fix="Look at what module(x) returns"
        ) from error
    if not isinstance(found, Tensor):
        problem = f"output={output!r} is a {type(found).__name__}"
        raise InputError(problem, accepted="a tensor", fix="Choose a tensor of what module(x) returns")
    return found
