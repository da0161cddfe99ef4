"""Computes derivatives of any order of a function along a direction, with backward passes only.

The map u -> J^T u is linear, so its own reverse pass applied to d gives

    J d = d/du <J^T u, d>                                                   (1)

and f'(w)[d] obtained so can be differentiated again. Forward mode is faster for the first derivative; nested, torch's
formulas for some operations (solvers, determinants, normalizations) drop terms, so it is not used for higher ones.

>>> import torch
>>> cube = lambda w: w["a"] ** 3
>>> along = directional_derivative(directional_derivative(cube, {"a": torch.ones(())}), {"a": torch.ones(())})
>>> float(along({"a": torch.tensor(2.0)}))                              # 6 a
12.0
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import vjp

__all__ = ["Parameters", "directional_derivative"]

Parameters = dict[str, Tensor]
"""Parameters of a module, or a direction among them, by name."""


def directional_derivative(f: Callable[[Parameters], Tensor], direction: Parameters) -> Callable[[Parameters], Tensor]:
    """Returns the derivative of a function f of the parameters along a direction, as a function of the parameters.

    See equation (1) of the module docstring.
    Hypotheses: f is differentiable twice by autograd at the parameters.
    Cost: a forward pass and two backward passes per call.

    >>> float(directional_derivative(lambda w: w["a"] * w["b"], {"a": torch.ones(()),
    ...     "b": torch.zeros(())})({"a": torch.tensor(5.0),
    ...     "b": torch.tensor(7.0)}))
    7.0
    """

    def along(w: Parameters) -> Tensor:
        y, pull = vjp(f, w)[:2]
        push = vjp(lambda u: pull(u)[0], torch.zeros_like(y))[1]
        return push(direction)[0]  # (1)

    return along
