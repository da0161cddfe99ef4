"""Evaluates the log of a probability density and its gradient for many Markov chains at once.

A function from one point (d,) to log p up to a constant becomes one from points (chains, d) to values and gradients.
If torch can vectorize the function over chains (vmap), it does; otherwise the function is called for each chain.

>>> p = LogDensityWithGradient.of(lambda x: -x.square().sum() / 2, torch.zeros(2, 3))
>>> value, gradient = p(torch.tensor([[1.0, 2.0, 2.0]]).double())
>>> value.tolist(), gradient.tolist()
([-4.5], [[-1.0, -2.0, -2.0]])
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import grad_and_value, vmap

from gnomon.core.errors import InputError
from gnomon.core.results.record import Record

__all__ = ["LogDensityWithGradient", "LogDensity"]

LogDensity = Callable[[Tensor], Tensor]
"""A function from a point (d,) to the logarithm of a density, up to a constant."""


@dataclass(frozen=True, slots=True)
class LogDensityWithGradient(Record):
    """A log density that also returns its gradient, for several points at once."""

    function: LogDensity
    mapped: bool

    def __call__(self, points: Float[Tensor, "c d"]) -> tuple[Float[Tensor, " c"], Float[Tensor, "c d"]]:
        """Returns the log density and its gradient at each point; if either is not finite, the log density is minus
        infinity.
        """
        both = grad_and_value(self.function)
        if self.mapped:
            gradients, values = vmap(both)(points.detach())
        else:
            pairs = [both(point) for point in points.detach()]
            gradients, values = torch.stack([g for g, _ in pairs]), torch.stack([v for _, v in pairs])
        sound = values.isfinite() & gradients.isfinite().all(1)
        return values.masked_fill(~sound, -torch.inf), torch.where(
            sound[:, None], gradients, torch.zeros_like(gradients)
        )

    @classmethod
    def of(cls, function: LogDensity, start: Float[Tensor, "c d"]) -> "LogDensityWithGradient":
        """Wraps a log density after one test call; raises an error if its value or gradient is not finite at
        the start.
        """
        start = start.double()
        try:
            value = function(start[0])
        except Exception as error:
            raise InputError(f"the log density raised {type(error).__name__} at the first starting point") from error
        if not isinstance(value, Tensor) or value.dim() != 0:
            shape = tuple(value.shape) if isinstance(value, Tensor) else type(value).__name__
            what = f"the log density must return one number as a tensor of shape (), but it returned {shape}"
            raise InputError(f"{what}")
        try:
            vmap(grad_and_value(function))(start[:1])
            density = cls(function, True)
        except (RuntimeError, ValueError, NotImplementedError):
            density = cls(function, False)
        if not bool((density(start)[0] > -torch.inf).all()):
            what = "the log density or its gradient is not finite at a starting point"
            raise InputError(f"{what}. Start inside the support")
        return density
