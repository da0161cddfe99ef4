"""Finds weights whose scale does not change the loss, such as weights before a normalization layer.

    L(a w) = L(w):    <w, dL/dw> = 0,    the direction of w turns at the rate lr / |w|^2                          (1)

Hypotheses: training mode. Reference: [laarhoven2017regularization].

>>> ScaleInvariance({"0.weight": 0.0, "2.weight": 0.7}, {"0.weight": 4.0, "2.weight": 1.0}).invariant
('0.weight',)
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_number, check_weights
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.landscape.batchnorm import MAX_EXAMPLES
from gnomon.training.evaluate import Loss, Objective

__all__ = ["ScaleInvariance", "scale_invariance"]

MAX_COSINE = 1e-3
"""Cosine between weights and gradient below which weights count as scale-invariant: float32 and the eps of the norm."""


@dataclass(frozen=True, slots=True)
class ScaleInvariance(Result):
    """For each weight tensor: its |cosine| with the gradient, which is zero if the scale of the weight has
    no effect.
    """

    cosines: dict[str, float]
    squares: dict[str, float]

    @property
    def invariant(self) -> tuple[str, ...]:
        """The names of the weight tensors whose scale does not change the loss."""
        return tuple(name for name, cosine in self.cosines.items() if cosine < MAX_COSINE)

    @add_call_to_errors("effective_lr(lr)")
    def effective_lr(self, lr: float) -> dict[str, float]:
        """Returns lr / |w|^2 for each weight w whose scale has no effect: the rate at which the direction of w turns.

        See equation (1) of the module docstring.
        """
        rate = check_number("lr", lr, above=0)
        return {name: rate / self.squares[name] for name in self.invariant}

    @property
    def verdict(self) -> str:
        """A sentence with the number of weight tensors whose scale does not change the loss."""
        found = self.invariant
        named = f": {', '.join(found[:3])}{' ...' if len(found) > 3 else ''}" if found else ""
        return f"The loss does not depend on the scale of {len(found)} of {len(self.cosines)} weights{named}."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the cosine between each weight tensor and its gradient."""
        bars = Bars("cosine", tuple(self.cosines), tuple(self.cosines.values()))
        return (Plot("Cosine of weights and their gradient", (bars,), Axis("|cosine|"), caption=self.verdict),)


@add_call_to_errors
def scale_invariance(module: nn.Module, data: Any, *, loss: Loss | None = None) -> ScaleInvariance:
    """Finds the weight tensors whose scale does not change the loss, from their gradients in training mode.

    See equation (1) of the module docstring.
    Hypotheses: at most 256 examples, as one batch. Reference: [laarhoven2017regularization].
    Cost: a forward and a backward pass in training mode, on a copy.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 1))
    >>> x = 10 * torch.randn(32, 2, generator=torch.Generator().manual_seed(0))
    >>> scale_invariance(net, (x, x[:, 0])).invariant
    ('0.weight',)
    """
    check_weights(module)
    model = copy_module(module)
    with preserve(model, mode="train"):
        objective = Objective.of(data, model, loss)
        value = objective.value(model, *objective.of_batch(objective.data.first(MAX_EXAMPLES)))
        weights = {name: p for name, p in model.named_parameters() if p.dim() > 1 and p.requires_grad}
        if not weights:
            found, fix = "no weight matrix requires a gradient", "Pass a network with layers that are trained"
            raise InputError(found, accepted="at least one trainable weight matrix", fix=fix)
        grads = torch.autograd.grad(value, list(weights.values()), allow_unused=True)
    used = [(name, w.detach().double(), g.double()) for (name, w), g in zip(weights.items(), grads, strict=True)
            if g is not None]  # fmt: skip
    cosines = {name: abs(float((w * g).sum() / (w.norm() * g.norm()).clamp_min(1e-300))) for name, w, g in used}
    return ScaleInvariance(cosines, {name: float(w.square().sum()) for name, w, _ in used})  # (1)
