"""Measures effects of data augmentation: damped frequencies, and losses and filters that become symmetric.

    mean over shifts |t| <= a of e^{i k (w - t)} = sin(k a) / (k a)  e^{i k w}                                  (1)
    loss change  |L(g w) - L(w)| / |L(w)|,    gradient error  |grad L(g w) - g grad L(w)| / |grad L(w)|         (2)
    asymmetry of a filter  |g w - w| / |w|                                                                      (3)

(2) is zero for an orthogonal g if the data contain whole orbits of g; then symmetric weights stay symmetric, (3).
Reference: [chen2020group] for (2).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module
from gnomon.core.modules.copies import copy_module
from gnomon.core.results.record import Record

__all__ = [
    "LossChangeUnderTransformation",
    "augmentation_transfer_function",
    "loss_change_under_transformation",
    "weight_symmetry",
]


def augmentation_transfer_function(reach: float, frequencies: Float[Tensor, " k"]) -> Float[Tensor, " k"]:
    """Returns the factor by which averaging over shifts from -reach to reach damps each frequency.

    See equation (1) of the module docstring.

    >>> kept = augmentation_transfer_function(1.0, torch.tensor([0.0, torch.pi / 2, torch.pi]))
    >>> bool((kept - torch.tensor([1.0, 2 / torch.pi, 0.0])).abs().max() < 1e-6)
    True
    """
    return torch.sinc(frequencies * reach / torch.pi)  # (1)


@dataclass(frozen=True, slots=True)
class LossChangeUnderTransformation(Record):
    """Result: how much the loss and its gradient change if one parameter tensor is transformed.

    >>> LossChangeUnderTransformation(loss=0.0, gradient=0.5).gradient
    0.5
    """

    loss: float
    gradient: float


@add_call_to_errors
def loss_change_under_transformation(
    module: nn.Module,
    objective: Callable[[nn.Module], Tensor],
    transformation: Callable[[Tensor], Tensor],
    *,
    parameter: str,
) -> LossChangeUnderTransformation:
    """Measures how much a loss and its gradient change if one parameter tensor is transformed by an orthogonal map.

    See equation (2) of the module docstring.

    Args:
        module: the network, which stays as it is.
        objective: from a network to its loss on fixed data.
        transformation: the orthogonal move g, such as a flip or a shift of the entries of the parameter.
        parameter: name of the moved parameter, as in ``named_parameters()``.

    Hypotheses: ``transformation`` is orthogonal.
    Cost: two backward passes.

    >>> x = torch.tensor([[1.0, 2.0], [2.0, 1.0]])                     # both orders of the entries: a whole orbit
    >>> net = nn.Linear(2, 1)
    >>> loss = lambda n: n(x).square().mean()
    >>> found = loss_change_under_transformation(net, loss, lambda w: w.flip(1), parameter="weight")
    >>> found.loss < 1e-5 and found.gradient < 1e-5
    True
    """
    check_module(module)
    if parameter not in dict(module.named_parameters()):
        names = ", ".join(name for name, _ in module.named_parameters())
        raise InputError(
            f"the network has no parameter {parameter!r}", accepted=f"one of {names}", fix="Pass its full name"
        )
    losses, gradients = [], []
    for moved in (False, True):
        copy = copy_module(module)
        weight = dict(copy.named_parameters())[parameter]
        if moved:
            with torch.no_grad():
                weight.copy_(transformation(weight.detach().clone()))
        loss = objective(copy)
        losses.append(float(loss.detach()))
        gradients.append(torch.autograd.grad(loss, weight)[0])
    change = abs(losses[1] - losses[0]) / max(abs(losses[0]), 1e-30)
    error = (gradients[1] - transformation(gradients[0])).norm() / gradients[0].norm().clamp_min(1e-30)
    return LossChangeUnderTransformation(change, float(error))  # (2)


@add_call_to_errors
def weight_symmetry(weight: Tensor, transformation: Callable[[Tensor], Tensor]) -> Float[Tensor, " filters"]:
    """Returns for each filter how much it changes under a transformation; 0 for a symmetric filter.

    See equation (3) of the module docstring.

    Args:
        weight: filters along the first axis, such as the weight of a Linear or Conv2d layer.
        transformation: of all filters at once, such as ``lambda w: w.flip(-1)``.

    >>> weight_symmetry(torch.tensor([[1.0, 1.0], [1.0, -1.0]]), lambda w: w.flip(1)).tolist()
    [0.0, 2.0]
    """
    rows = weight.detach().flatten(1)
    moved = transformation(weight.detach()).flatten(1)
    return (moved - rows).norm(dim=1) / rows.norm(dim=1).clamp_min(1e-30)  # (3)
