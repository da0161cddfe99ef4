"""Computes the penalties that training implicitly adds to the loss because steps and batches are finite.

    descent with step lr follows the flow of  L + (lr / 4) |grad L|^2                                             (1)
    an epoch over batches k follows           L + (lr / 4) |grad L|^2 + (lr / 4) mean_k |grad L_k - grad L|^2     (2)

Hypotheses: small lr; batches drawn without replacement in random order for (2).
Reference: [barrett2021implicit] for (1); [smith2021origin] for (2).

>>> import torch
>>> net = nn.Linear(1, 1, bias=False)
>>> _ = nn.init.ones_(net.weight)
>>> implicit_penalty(net, (torch.ones(1, 1), torch.zeros(1)), lr=0.4).norm                     # 0.1 |g|^2, g = 1
0.1...
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number, check_seed, check_weights
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.training.evaluate import Loss, Objective
from gnomon.training.gradient import finite_loss, loss_gradient, trainable_parameters

__all__ = ["ImplicitPenalty", "implicit_penalty"]


@dataclass(frozen=True, slots=True)
class ImplicitPenalty(Result):
    """The loss, and two penalties that gradient descent implicitly adds to it: for the step size and for
    batch noise.
    """

    loss: float
    norm: float
    noise: float
    lr: float

    @property
    def share(self) -> float:
        """The sum of both implicit penalties divided by the loss."""
        return (self.norm + self.noise) / self.loss if self.loss > 0 else float("inf")

    @property
    def verdict(self) -> str:
        """A sentence with the size of the implicit penalty relative to the loss."""
        which = "the size of the step" if self.norm >= self.noise else "the noise of the batches"
        return (
            f"Gradient descent with learning rate {self.lr:.3g} adds an implicit penalty of {self.share:.1%} of "
            f"the loss, mostly from {which}."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots the loss and the two penalties that finite steps and finite batches implicitly add to it."""
        bars = Bars("value", ("loss", "penalty of the step", "penalty of the batches"),
                    (self.loss, self.norm, self.noise))  # fmt: skip
        return (Plot("What steps add to the loss", (bars,), Axis("loss and penalties"), caption=self.verdict),)


@add_call_to_errors
def implicit_penalty(
    module: nn.Module,
    data: Any,
    *,
    lr: float,
    batch: int | None = None,
    loss: Loss | None = None,
    seed: int = 0,
) -> ImplicitPenalty:
    """Computes the penalties that SGD with a learning rate and a batch size implicitly adds to the loss.

    See equations (1), (2) of the module docstring.

    Args:
        module: read in eval mode and left as it was.
        data: as in `hessian`.
        lr: the learning rate.
        batch: examples in a batch; without it, full batches, equation (1).
        loss: as in `hessian`.
        seed: random seed for the partition into batches.

    Hypotheses: see the module. Reference: [smith2021origin].
    Cost: two gradients over the examples.

    >>> net = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.zeros_(net.weight)
    >>> result = implicit_penalty(net, (torch.ones(2, 1), torch.tensor([1.0, -1.0])), lr=0.4, batch=1)
    >>> result.norm, round(result.noise, 6)                                    # gradients +1 and -1: mean 0, variance 1
    (0.0, 0.1)
    """
    check_weights(module)
    rate = check_number("lr", lr, above=0)
    size = None if batch is None else check_integer("batch", batch)
    generator = torch.Generator().manual_seed(check_seed(seed))
    with preserve(module):
        objective = Objective.of(data, module, loss).indexable()
        value, g = loss_gradient(module, objective)
        finite_loss(value)
        noise = 0.0
        if size is not None and size < len(objective):
            leaves = trainable_parameters(module)
            parts = torch.randperm(len(objective), generator=generator).split(size)
            for index in (part for part in parts if len(part) == size):
                own = torch.autograd.grad(objective.value(module, *objective.at(index)), leaves, allow_unused=True,
                                          materialize_grads=True)  # fmt: skip
                noise += float((torch.cat([p.flatten() for p in own]).double() - g).square().sum())
            noise /= len(objective) // size
    return ImplicitPenalty(value, rate / 4 * float(g.square().sum()), rate / 4 * noise, rate)  # (1), (2)
