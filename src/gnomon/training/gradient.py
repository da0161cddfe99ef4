"""Computes the gradient of the mean loss over all examples, as one vector.

    g = dL / dw,    L(w) = (1 / n) sum_i l(f(w, x_i), y_i)                                                   (1)

Hypotheses: a loss that is a mean over examples, so that batches add up.
Reference: [robbins1951stochastic].

>>> import torch
>>> net, x = nn.Linear(1, 1, bias=False), torch.tensor([[2.0]])
>>> _ = nn.init.ones_(net.weight)
>>> loss_gradient(net, Objective.of((x, torch.zeros(1)), net, None))[1]    # x^2 w
tensor([4.], dtype=torch.float64)
"""

from math import isfinite

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, NotFiniteError
from gnomon.training.evaluate import Objective

__all__ = ["finite_loss", "loss_gradient", "trainable_parameters"]

EXAMPLES_PER_PASS = 512
"""Maximum number of examples with a graph in memory at the same time."""


def finite_loss(value: float) -> float:
    """Returns the loss unchanged; raises an error if it is not finite.

    >>> finite_loss(0.5)
    0.5
    """
    if not isfinite(value):
        fix = "Look for NaN in the weights or the data, or lower the scale of the weights"
        raise NotFiniteError("the loss is not finite", accepted="a loss with derivatives", fix=fix)
    return value


def trainable_parameters(module: nn.Module) -> list[nn.Parameter]:
    """Returns the parameters that training changes; raises an error if there are none.

    >>> len(trainable_parameters(nn.Linear(1, 1)))
    2
    """
    found = [p for p in module.parameters() if p.requires_grad]
    if not found and not any(True for _ in module.parameters()):
        fix = "Pass a module with layers that are trained"
        raise InputError("the module has no parameters", accepted="a module with parameters", fix=fix)
    if not found:
        fix = "Call requires_grad_() on the parameters to train"
        raise InputError("no parameter requires a gradient", accepted="at least one trainable parameter", fix=fix)
    return found


def loss_gradient(
    module: nn.Module, objective: Objective, *, size: int = EXAMPLES_PER_PASS
) -> tuple[float, Float[Tensor, " p"]]:
    """Returns the mean loss and its gradient with respect to the trainable parameters, as a float64 vector.

    See equation (1) of the module docstring.
    Hypotheses: see the module.
    Reference: [robbins1951stochastic].
    Cost: one forward and one backward pass over the examples.

    >>> import torch
    >>> net = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.ones_(net.weight)
    >>> loss_gradient(net, Objective.of((torch.ones(1, 1), torch.zeros(1)), net, None))[0]
    0.5
    """
    moved = trainable_parameters(module)
    total, n = 0.0, len(objective)
    sums = torch.zeros(sum(p.numel() for p in moved), dtype=torch.float64, device=moved[0].device)
    with torch.enable_grad():
        for x, y in objective.batches(size):
            value = objective.value(module, x, y)
            parts = torch.autograd.grad(value, moved, allow_unused=True, materialize_grads=True)
            total += float(value.detach()) * len(y) / n
            sums += torch.cat([g.flatten() for g in parts]).double() * (len(y) / n)  # (1)
    return total, sums
