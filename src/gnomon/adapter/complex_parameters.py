"""Stores complex parameters as pairs of real parameters, because optimizers and most analyses need real numbers.

>>> class Turn(nn.Module):
...     def __init__(self):
...         super().__init__()
...         self.weight = nn.Parameter(torch.tensor([1j]))
...     def forward(self, x):
...         return (x * self.weight).real
>>> net = with_real_parameters(Turn())
>>> [(name, p.item()) for name, p in net.named_parameters()]
[('weight_real', 0.0), ('weight_imag', 1.0)]
>>> net(torch.tensor([2j])).tolist()
[-2.0]
"""

from typing import Any

import torch
from torch import nn

from gnomon.adapter.view import ModuleView
from gnomon.core.modules.copies import copy_module

__all__ = ["with_real_parameters"]

PARTS = ("_real", "_imag")
"""Endings of the names of the two parts of a complex parameter."""


class ComplexView(ModuleView):
    """Wraps a module with complex parameters so that each is stored as a real and an imaginary part; joins the parts at
    each call.
    """

    takes_same_inputs = True

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Assembles the complex parameters from their real and imaginary parts, then runs the wrapped module."""
        module = self.module_of_view
        joined = []
        for part in module.modules():
            for name in vars(part).get("split_parameters", ()):
                real, imaginary = (part._parameters[name + ending] for ending in PARTS)
                # Splitting a complex parameter registered both its real and its imaginary part.
                assert real is not None and imaginary is not None
                vars(part)[name] = torch.complex(real, imaginary)
                joined.append((part, name))
        try:
            return module(*args, **kwargs)
        finally:
            for part, name in joined:
                vars(part).pop(name, None)


def with_real_parameters(module: nn.Module) -> nn.Module:
    """Returns a copy of a module whose complex parameters are stored as pairs of real ones; returns the module if all
    are real.

    Gradients with respect to the two parts are the parts of the gradient that torch gives complex parameters.
    Cost: a copy of the module if it has complex parameters.

    >>> net = nn.Linear(1, 1)
    >>> with_real_parameters(net) is net
    True
    """
    if not any(p.is_complex() for p in module.parameters()):
        return module
    made = copy_module(module)
    # Maps the id of a complex parameter to its real and imaginary parts. Layers that share a parameter share its parts.
    split: dict[int, tuple[nn.Parameter, ...]] = {}
    for part in made.modules():
        names = [name for name, p in part._parameters.items() if p is not None and p.is_complex()]
        for name in names:
            p = part._parameters.pop(name)
            assert p is not None  # chosen above
            if id(p) not in split:
                values = (p.detach().real.clone(), p.detach().imag.clone())
                split[id(p)] = tuple(nn.Parameter(v, requires_grad=p.requires_grad) for v in values)
            for ending, value in zip(PARTS, split[id(p)], strict=True):
                nn.Module.register_parameter(part, name + ending, value)
        if names:
            object.__setattr__(part, "split_parameters", tuple(names))
    return ComplexView(made)
