"""Measures sharpness as the largest rise of the loss near the current parameters.

    S(r) = max over |e| <= r of L(w + e) - L(w),    first order: e = r g / |g|                                   (1)
    adaptive: e = r T^2 g / |T g| with T = diag |w|, so that |e / w| <= r                                        (2)
    local entropy: F(c) = log E_(e ~ N(0, 1 / c)) exp(-L(w + e) n),  by draws                                    (3)

(1) is the sharpness in SAM, (2) the sharpness in ASAM: relu layers scaled by c and 1/c have the same (2), not the same
(1).
Hypotheses: small r for the first order. Reference: [keskar2017large]; [dinh2017sharp] on rescaling;
[chaudhari2017entropy] for (3).

>>> import torch
>>> net = nn.Linear(1, 1, bias=False)
>>> _ = nn.init.ones_(net.weight)
>>> found = largest_loss_rise(net, (torch.ones(1, 1), torch.zeros(1)), radius=1.0)          # (2^2 - 1^2) / 2
>>> round(found.rise, 5)
1.5
"""

from dataclasses import dataclass
from math import log
from typing import Any

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_number, check_seed
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Interval, Result
from gnomon.training.evaluate import Loss, Objective
from gnomon.training.gradient import finite_loss, loss_gradient, trainable_parameters

__all__ = ["LocalEntropy", "LargestLossRise", "local_entropy", "largest_loss_rise"]


@dataclass(frozen=True, slots=True)
class LargestLossRise(Result):
    """The loss, its largest rise within a radius of the parameters, and whether the radius is relative to each
    weight.
    """

    loss: float
    rise: float
    radius: float
    adaptive: bool

    @property
    def verdict(self) -> str:
        """A sentence that says how much the loss can rise within the radius around the parameters."""
        unit = "times the size of each weight" if self.adaptive else "in parameter space"
        return (
            f"If the weights move by up to {self.radius:.3g} {unit}, the loss can rise from {self.loss:.3g} by "
            f"{self.rise:.3g}."
        )


@dataclass(frozen=True, slots=True)
class LocalEntropy(Result):
    """The local entropy, which measures how wide the current minimum is, with a 95 % interval, and its noise
    precision.
    """

    value: float
    interval: Interval
    here: float
    scope: float

    @property
    def verdict(self) -> str:
        """A sentence that says how wide the minimum is: how much Gaussian noise on the weights adds to the loss."""
        cost = -self.value - self.here
        return (
            f"Random noise on the weights (precision, or scope, {self.scope:.3g}) raises the loss by {cost:.3g} nats; "
            f"in a wide minimum this rise is small."
        )


@add_call_to_errors
def largest_loss_rise(
    module: nn.Module,
    data: Any,
    *,
    radius: float = 0.05,
    adaptive: bool = False,
    ascent_steps: int = 1,
    loss: Loss | None = None,
) -> LargestLossRise:
    """Finds the largest rise of the loss within a radius of the current parameters, by gradient ascent.

    See equations (1), (2) of the module docstring.

    Args:
        module: read in eval mode and left as it was.
        data: as in `hessian`.
        radius: radius of the ball; for ``adaptive`` relative to each weight.
        adaptive: measure in units of the weights, which no rescaling of layers changes.
        ascent_steps: number of steps of ascent, each followed by a projection onto the ball; 1 is the first-order
            estimate.
        loss: as in `hessian`.

    Hypotheses: see the module. The result is a lower bound on the maximum. Reference: [keskar2017large].
    Cost: a gradient for each step and one pass over the data.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.constant_(net.weight, 10.0)
    >>> round(largest_loss_rise(net, (torch.ones(1, 1), torch.zeros(1)), radius=0.1, adaptive=True).rise,
    ...     4)  # (11^2-10^2)/2
    10.5
    """
    check_module_is_callable(module)
    r, count = check_number("radius", radius, above=0), check_integer("ascent_steps", ascent_steps)
    moved = copy_module(module)
    leaves = trainable_parameters(moved)
    w = parameters_to_vector(leaves).detach().double()
    t = w.abs() if adaptive else torch.ones_like(w)
    with preserve(moved):
        objective = Objective.of(data, moved, loss)
        start, g = loss_gradient(moved, objective)
        finite_loss(start)
        e = torch.zeros_like(w)
        for _ in range(count):
            e = e + r * t**2 * g / (t * g).norm().clamp_min(1e-300)  # (1), (2)
            size = float((e / t.clamp_min(1e-300)).norm())
            e = e * min(1.0, r / max(size, 1e-300))
            vector_to_parameters((w + e).to(leaves[0].dtype), leaves)
            value, g = loss_gradient(moved, objective)
    return LargestLossRise(start, value - start, r, adaptive)


@add_call_to_errors
def local_entropy(
    module: nn.Module,
    data: Any,
    *,
    scope: float,
    draws: int = 100,
    loss: Loss | None = None,
    seed: int = 0,
) -> LocalEntropy:
    """Estimates the local entropy, a measure of how wide the current minimum of the loss is, from Gaussian draws.

    See equation (3) of the module docstring.

    Args:
        module: read in eval mode and left as it was.
        data: as in `hessian`.
        scope: c of (3); noise has variance 1 / c. Large c looks at the point itself.
        draws: number of draws of noise.
        loss: as in `hessian`.
        seed: random seed for the draws.

    Hypotheses: noise small enough that the draws stay in the valley; a narrow interval confirms it.
    Reference: [chaudhari2017entropy].
    Cost: a pass over the data for each draw.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.zeros_(net.weight)
    >>> result = local_entropy(net, (torch.ones(1, 1), torch.zeros(1)), scope=1.0, draws=4000)
    >>> abs(result.value + log(2) / 2) < 0.05                               # E exp(-w^2 / 2) = 1 / sqrt(1 + 1 / c)
    True
    """
    check_module_is_callable(module)
    c, m = check_number("scope", scope, above=0), check_integer("draws", draws, least=2)
    generator = torch.Generator().manual_seed(check_seed(seed))
    moved = copy_module(module)
    leaves = trainable_parameters(moved)
    w, values = parameters_to_vector(leaves).detach(), []
    with preserve(moved):
        objective = Objective.of(data, moved, loss)
        n = len(objective)
        here = n * finite_loss(objective.measure(moved, None)[0])
        for _ in range(m):
            vector_to_parameters(w + torch.randn(w.shape, generator=generator).to(w) / c**0.5, leaves)
            values.append(n * objective.measure(moved, None)[0])
    energies = -torch.tensor(values, dtype=torch.float64)
    if not bool(energies.isfinite().all()):
        found = f"noise of standard deviation {1 / c**0.5:.3g} makes the loss infinite or NaN"
        fix = "Pass a larger scope: the standard deviation is 1 / sqrt(scope)"
        raise InputError(found, accepted="noise small enough for a finite loss", fix=fix)
    value = float(torch.logsumexp(energies, 0)) - log(m)  # (3)
    weights = (energies - energies.max()).exp()
    error = 1.96 * float(weights.std() / weights.mean()) / m**0.5
    return LocalEntropy(value, Interval(value - error, value + error, 0.95), here, c)
