"""Measures how the gradient and the loss change in one gradient step, for several learning rates.

    L_local = lambda_1(H),    L_step(lr) = |g(w - lr g) - g(w)| / (lr |g|)                                       (1)
    predictiveness of a step:  cosine(g(w - lr g), g(w)),    loss along it  L(w - lr g)                           (2)
    mu = min over a path of  |g|^2 / (2 (L - L*))                                                                (3)

Descent with lr < 2 / L cannot raise the loss. With mu > 0 in (3), the Polyak-Lojasiewicz inequality, it converges at
the rate 1 - mu / L without convexity.
Hypotheses: full-batch gradients of a mean loss.
Reference: [nesterov2018lectures] for (1); [santurkar2018how] for (2); [karimi2016linear] for (3).

>>> import torch
>>> net, x = nn.Linear(1, 1, bias=False), torch.tensor([[2.0]])
>>> _ = nn.init.ones_(net.weight)
>>> try_gradient_steps(net, (x, torch.zeros(1)), lrs=(0.125,)).smoothness                        # H = x^2 = 4
(4.0,)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_module_is_callable, check_number
from gnomon.core.machine.progress import with_progress_bar
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Line, Plot, Reference, Result
from gnomon.landscape.sharpness import sharpness
from gnomon.training.evaluate import Loss, Objective
from gnomon.training.gradient import loss_gradient, trainable_parameters

__all__ = ["PolyakConstant", "GradientStepTrials", "polyak_constant", "try_gradient_steps"]


@dataclass(frozen=True, slots=True)
class GradientStepTrials(Result):
    """For each learning rate: the loss after one gradient step, and how much the gradient changed in the step."""

    lrs: tuple[float, ...]
    losses: tuple[float, ...]
    cosines: tuple[float, ...]
    smoothness: tuple[float, ...]
    start: float
    local: float

    @property
    def verdict(self) -> str:
        """A sentence with the largest learning rate at which the gradient keeps its direction."""
        good = [lr for lr, c in zip(self.lrs, self.cosines, strict=True) if c > 0.5]
        far = f"up to lr = {max(good):.3g}" if good else "for none of these learning rates"
        return f"The gradient keeps its direction (cosine above 1/2) {far}; 2 / curvature is {2 / self.local:.3g}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the loss after a step, and the cosine of the gradients before and after it, over the learning rate."""
        limit = Reference("2 / curvature", 2 / self.local, vertical=True)
        loss = (Line("loss after the step", self.lrs, self.losses), Reference("loss before", self.start), limit)
        cosine = (Line("cosine with the gradient before", self.lrs, self.cosines), limit)
        axis = Axis("learning rate", log=True)
        return Plot("Loss along a step", loss, axis, Axis("loss", log=True)), Plot(
            "Direction along a step", cosine, axis, Axis("cosine"), self.verdict
        )


@dataclass(frozen=True, slots=True)
class PolyakConstant(Result):
    """The Polyak-Lojasiewicz constant along a run, which limits how slowly the loss falls, and the curvature at the
    end.
    """

    value: float
    min_loss: float
    curvature: float
    steps: int

    @property
    def verdict(self) -> str:
        """A sentence with the convergence rate that the Polyak-Lojasiewicz constant guarantees."""
        rate = max(0.0, 1 - self.value / self.curvature)
        return (
            f"Along {self.steps} steps |gradient|^2 stays above {2 * self.value:.3g} (loss - {self.min_loss:.3g}): "
            f"with curvature {self.curvature:.3g} each step of gradient descent multiplies the excess loss by at most "
            f"{rate:.4f}."
        )


@add_call_to_errors
def try_gradient_steps(
    module: nn.Module,
    data: Any,
    *,
    lrs: Sequence[float] | None = None,
    products: int | None = None,
    loss: Loss | None = None,
) -> GradientStepTrials:
    """Takes one gradient step with each of several learning rates, and measures the loss and the gradient after the
    step.

    See equations (1), (2) of the module docstring.

    Args:
        module: read in eval mode and left as it was; copies take the steps.
        data: as in `hessian`.
        lrs: learning rates; by default from 1/20 to 5 times 2 / curvature.
        products: number of Hessian products for the largest eigenvalue; by default, until it converges.
        loss: as in `hessian`.

    Hypotheses: see the module. Reference: [santurkar2018how].
    Cost: a gradient for each learning rate, and about 25 Hessian-vector products.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.ones_(net.weight)
    >>> result = try_gradient_steps(net, (torch.ones(1, 1), torch.zeros(1)), lrs=(0.5,
    ...     3.0))  # g = w: after 3 it turns round
    >>> result.cosines
    (1.0, -1.0)
    """
    check_module_is_callable(module)
    most = None if products is None else check_integer("products", products)
    local = sharpness(module, data, loss=loss, iterations=most).value
    if not local > 0:
        found = f"the largest curvature is {local:.3g}"
        raise InputError(
            found, accepted="a positive largest curvature", fix="Pass lrs explicitly, or use other parameters"
        )
    rates = [2 / local * 10 ** (e / 4) for e in range(-5, 4)] if lrs is None else lrs
    chosen = tuple(check_number("lrs", lr, above=0) for lr in rates)
    moved = copy_module(module)
    leaves = trainable_parameters(moved)
    w = parameters_to_vector(leaves).detach()
    losses, cosines, ratios = [], [], []
    with preserve(moved):
        objective = Objective.of(data, moved, loss)
        start, g = loss_gradient(moved, objective)
        for lr in chosen:
            vector_to_parameters((w.double() - lr * g).to(w.dtype), leaves)
            value, there = loss_gradient(moved, objective)
            losses.append(value)
            cosines.append(float(torch.nn.functional.cosine_similarity(there, g, dim=0)))  # (2)
            ratios.append(float((there - g).norm() / (lr * g.norm()).clamp_min(1e-300)))  # (1)
    return GradientStepTrials(chosen, tuple(losses), tuple(cosines), tuple(ratios), start, local)


@add_call_to_errors
def polyak_constant(
    module: nn.Module,
    data: Any,
    *,
    lr: float | None = None,
    steps: int = 200,
    min_loss: float = 0.0,
    products: int | None = None,
    loss: Loss | None = None,
) -> PolyakConstant:
    """Measures the Polyak-Lojasiewicz constant along a run of full-batch gradient descent.

    See equation (3) of the module docstring.

    Args:
        module: left as it was; a copy is trained.
        data: inputs, or data.
        lr: by default 1 / curvature at the start.
        steps: number of steps of descent.
        min_loss: the smallest loss L*; zero if the network can fit all examples.
        products: number of Hessian products for each largest eigenvalue; by default, until it converges.
        loss: as in `hessian`.

    Hypotheses: ``min_loss`` is at most the loss reached. Reference: [karimi2016linear].
    Cost: a gradient for each step, and about 50 Hessian-vector products.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.ones_(net.weight)
    >>> round(polyak_constant(net, (torch.tensor([[2.0]]), torch.zeros(1)), lr=0.1, steps=5).value, 5)  # its curvature
    4.0
    """
    check_module_is_callable(module)
    count, floor = check_integer("steps", steps), check_number("min_loss", min_loss)
    most = None if products is None else check_integer("products", products)
    rate = None if lr is None else check_number("lr", lr, above=0)
    rate = rate or 1 / max(sharpness(module, data, loss=loss, iterations=most).value, 1e-12)
    moved = copy_module(module)
    leaves, least = trainable_parameters(moved), float("inf")
    with preserve(moved):
        objective = Objective.of(data, moved, loss)
        for _ in with_progress_bar(range(count), "steps of descent"):
            value, g = loss_gradient(moved, objective)
            if value - floor <= 1e-12 * max(abs(value), abs(floor), 1e-300):
                break
            least = min(least, float(g.square().sum()) / (2 * (value - floor)))  # (3)
            w = parameters_to_vector(leaves).detach()
            vector_to_parameters((w.double() - rate * g).to(w.dtype), leaves)
    return PolyakConstant(least, floor, sharpness(moved, data, loss=loss, iterations=most).value, count)
