"""Implements adversarial training: before each step, changes the inputs slightly so that the loss increases.

    min over w of  E max over |d| <= eps of  l(f(w, x + d), y),    d by projected ascent:                          (1)
    d <- P(d + step s(dl / dd)),    s the sign of the gradient, or the gradient over its length                    (2)

Hypotheses: inputs are one floating tensor within ``bounds``. The search runs in eval mode, so that batch statistics and
dropout are not disturbed by it; the step itself is taken in training mode.
Reference: [madry2018towards].
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors, out_of_range_error
from gnomon.core.inputs.arguments import Inputs
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.modules.preserve import set_mode
from gnomon.core.results.record import Record
from gnomon.training.evaluate import Objective

__all__ = ["Adversary"]


@dataclass(frozen=True, slots=True)
class Adversary(Record):
    """Option of `gnomon.train` for adversarial training: how far and how inputs are changed before each step.

    See equation (1) of the module docstring.

    Args:
        eps: the largest distance.
        norm: "inf", the largest change of an entry, or "2", the Euclidean length.
        bounds: the least and the largest value that an input may have.
        iterations: of the search (2), each of ``step`` times eps; 1 with ``step=1.25`` is the fast form.
        step: see ``iterations``.
        ramp: training steps over which eps grows from zero, without which training for a large eps may not start.

    Cost: ``iterations`` more forward and backward passes for every step of training.

    >>> from gnomon.training import train
    >>> net, x, y = nn.Linear(1, 2), torch.tensor([[0.2], [0.8]]), torch.tensor([0, 1])
    >>> train(net, (x, y), steps=3, adversary=Adversary(eps=0.1)).stopped
    'finished'
    """

    eps: float
    norm: str = "inf"
    bounds: tuple[float, float] = (0.0, 1.0)
    iterations: int = 7
    step: float = 0.25
    ramp: int = 0

    @add_call_to_errors
    def __post_init__(self) -> None:
        """Validates the options of adversarial training; raises an error for values out of range."""
        check_number("eps", self.eps, above=0)
        check_number("step", self.step, above=0)
        check_integer("iterations", self.iterations)
        check_integer("ramp", self.ramp, least=0)
        if self.norm not in ("inf", "2"):
            raise out_of_range_error("norm", '"inf" or "2"', self.norm)
        if len(self.bounds) != 2 or not self.bounds[0] < self.bounds[1]:
            raise out_of_range_error("bounds", "(low, high) with low below high", self.bounds)

    def moved_inputs(self, model: nn.Module, objective: Objective, x: Inputs, y: Tensor, at: int) -> Inputs:
        """Returns the inputs of training step number ``at``, changed so that the loss increases.

        >>> net = nn.Linear(1, 1, bias=False)
        >>> _ = nn.init.ones_(net.weight)
        >>> x, y = torch.tensor([[0.5]]), torch.tensor([[0.0]])
        >>> round(Adversary(0.1).moved_inputs(net, Objective.of((x, y), net, None), x, y, 1).item(), 3)
        0.6
        """
        eps = self.eps * min(1.0, at / self.ramp) if self.ramp else self.eps
        x = self._check_tensor(x)
        d = torch.zeros_like(x)
        with set_mode(model, "eval"), torch.enable_grad():
            for _ in range(self.iterations):
                leaf = (x + d).detach().requires_grad_()
                (g,) = torch.autograd.grad(objective.value(model, leaf, y), leaf)
                d = self._project(x, d + self.step * eps * self._steepest(g), eps)  # (2)
        return (x + d).detach()

    def _check_tensor(self, x: Any) -> Tensor:
        if not isinstance(x, Tensor) or not x.is_floating_point():
            found = f"inputs are {x.dtype}" if isinstance(x, Tensor) else f"inputs are a {type(x).__name__}"
            fix = "Train without an adversary, or on embeddings"
            raise InputError(found, accepted="one floating-point tensor of inputs", fix=fix)
        low, high = float(x.min()), float(x.max())
        if low < self.bounds[0] - 1e-5 or high > self.bounds[1] + 1e-5:
            found = f"inputs range from {low:.4g} to {high:.4g}, outside the bounds {self.bounds}"
            fix = "Pass the bounds of the inputs, Adversary(eps, bounds=(low, high))"
            raise InputError(found, accepted="inputs within the bounds", fix=fix)
        return x

    def _steepest(self, g: Tensor) -> Tensor:
        if self.norm == "inf":
            return g.sign()
        return g / g.flatten(1).norm(dim=1).clamp_min(1e-30).reshape(-1, *[1] * (g.dim() - 1))

    def _project(self, x: Tensor, d: Tensor, eps: float) -> Tensor:
        if self.norm == "inf":
            d = d.clamp(-eps, eps)
        else:
            size = d.flatten(1).norm(dim=1).clamp_min(1e-30)
            d = d * (eps / size).clamp_max(1.0).reshape(-1, *[1] * (d.dim() - 1))
        return (x + d).clamp(*self.bounds) - x
