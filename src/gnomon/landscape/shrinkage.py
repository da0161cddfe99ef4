"""Computes how much weight decay and early stopping shrink the weights along each Hessian eigenvector.

Near a minimum w* of a quadratic loss with Hessian eigenvalues l_i, of the part of w* along direction i

    weight decay a keeps       l_i / (l_i + a)                                                                   (1)
    t steps of size lr keep    1 - (1 - lr l_i)^t,    for steps lr_1 ... lr_t:  1 - prod_s (1 - lr_s l_i)         (2)
    and both agree to first order in l_i for   a = 1 / sum_s lr_s                                                (3)

Hypotheses: a quadratic loss, starting from zero; steps below 2 / l_1.
Reference: [krogh1992simple] for (1); [ali2019continuous] for (2) and (3).

>>> equivalent_weight_decay(0.5, steps=8)
0.25
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from torch import nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.results import Axis, Line, Plot, Result
from gnomon.landscape.sharpness import sharpness
from gnomon.training.evaluate import Loss

__all__ = ["WeightShrinkage", "equivalent_weight_decay", "weight_shrinkage"]


@dataclass(frozen=True, slots=True)
class WeightShrinkage(Result):
    """The shares of the weights that weight decay and early stopping keep along the directions of largest curvature."""

    curvatures: tuple[float, ...]
    decayed: tuple[float, ...] | None
    stopped: tuple[float, ...] | None
    weight_decay: float

    @property
    def verdict(self) -> str:
        """A sentence with the share of the weights that is kept along the steepest direction and along the last
        direction.
        """
        parts = [f"{name} keeps {kept[0]:.1%} of the steepest direction and {kept[-1]:.1%} of number {len(kept)}"
                 for name, kept in (("weight decay", self.decayed), ("stopping", self.stopped)) if kept]  # fmt: skip
        text = "; ".join(parts)
        return f"{text[0].upper()}{text[1:]} (decay {self.weight_decay:.3g})."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the share of the weights that is kept along each direction, over the curvature of the direction."""
        kept = (("weight decay", self.decayed), ("early stopping", self.stopped))
        marks = tuple(Line(name, self.curvatures, values) for name, values in kept if values)
        axes = Axis("curvature", log=all(c > 0 for c in self.curvatures)), Axis("share kept", limits=(0, 1.02))
        return (Plot("Shrinkage by direction", marks, *axes, self.verdict),)


@add_call_to_errors
def equivalent_weight_decay(lr: float | Sequence[float], *, steps: int | None = None) -> float:
    """Returns the weight decay that is equivalent to early stopping with a learning rate and a number of steps.

    See equation (3) of the module docstring.
    Hypotheses: see the module. Reference: [ali2019continuous].

    >>> equivalent_weight_decay([0.5, 0.25, 0.25])
    1.0
    """
    rates = _rates(lr, steps)
    return 1 / sum(rates)  # (3)


@add_call_to_errors
def weight_shrinkage(
    module: nn.Module,
    data: Any,
    *,
    weight_decay: float | None = None,
    lr: float | Sequence[float] | None = None,
    steps: int | None = None,
    k: int = 5,
    products: int | None = None,
    loss: Loss | None = None,
) -> WeightShrinkage:
    """Computes how much of the weights weight decay or early stopping keeps along the steepest directions of the loss.

    See equations (1), (2) of the module docstring.

    Args:
        module: at a minimum of the loss without decay; read in eval mode and left as it was.
        data: as in `hessian`.
        weight_decay: a of (1), on (a / 2) |w|^2; by default from (3).
        lr: a learning rate, or one for each step.
        steps: number of steps, if ``lr`` is one number.
        k: number of directions, the steepest first.
        products: number of Hessian products; by default, until it converges.
        loss: as in `hessian`.

    Hypotheses: see the module. Reference: [krogh1992simple].
    Cost: about 20 Hessian-vector products and some more for each direction.

    >>> import torch
    >>> net = nn.Linear(1, 1, bias=False)
    >>> weight_shrinkage(net, (torch.tensor([[2.0]]), torch.zeros(1)), weight_decay=4.0, k=1).decayed  # 4 / (4 + 4)
    (0.5,)
    """
    if weight_decay is None and lr is None:
        raise InputError("pass weight_decay, or lr with steps, or both")
    rates = None if lr is None else _rates(lr, steps)
    given = None if weight_decay is None else check_number("weight_decay", weight_decay, above=0)
    count = check_integer("k", k)
    most = None if products is None else check_integer("products", products, least=count)
    found = sharpness(module, data, loss=loss, k=count, iterations=most)
    values = tuple(max(v, 0.0) for v in found.values)
    stopped = None if rates is None else tuple(1 - prod(1 - r * v for r in rates) for v in values)  # (2)
    decay = given if given is not None else 1 / sum(rates or (1.0,))
    decayed = None if given is None and rates is None else tuple(round(v / (v + decay), 12) for v in values)  # (1)
    return WeightShrinkage(values, decayed, stopped, decay)


def _rates(lr: float | Sequence[float], steps: int | None) -> list[float]:
    if isinstance(lr, Sequence):
        if steps is not None:
            raise InputError("lr has a rate for each step, so steps must not be given")
        return [check_number("lr", rate, above=0) for rate in lr]
    if steps is None:
        raise InputError("pass steps=, the number of training steps with this learning rate")
    return [check_number("lr", lr, above=0)] * check_integer("steps", steps)
