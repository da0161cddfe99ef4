"""What every sampler does, and the step size that learns from acceptances."""

from abc import ABC, abstractmethod
from math import exp, log

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.bayes.density import Density
from gnomon.bayes.draws import Draws

__all__ = ["AbstractSampler", "StepSize", "noise"]


class AbstractSampler(ABC):
    """A Markov chain whose stationary distribution is, or is close to, a given density."""

    @abstractmethod
    def run(
        self, density: Density, start: Float[Tensor, "c d"], draws: int, warmup: int, generator: torch.Generator
    ) -> Draws:
        """Draws of all chains after the warm-up."""


class StepSize:
    """A step size adapted by dual averaging until the mean acceptance is what was asked for.

        log e[t + 1] = mu - sqrt(t) / gamma * 1 / (t + t0) sum_s (target - a[s])                           (1)

    Reference: [hoffman2014sampler], section 3.2, equation 6.

    >>> size = StepSize(1.0, 0.8)
    >>> size.update(0.2)
    >>> size.now < 1                                                   # too few were accepted: shorter steps
    True
    """

    def __init__(self, first: float, target: float) -> None:
        self.target, self.now = target, first
        self._restart()

    def _restart(self) -> None:
        self._center, self._gap, self._mean, self._t = log(2 * self.now), 0.0, log(self.now), 0

    def update(self, accepted: float) -> None:
        """One more mean acceptance."""
        self._t += 1
        t = self._t
        self._gap += (self.target - accepted - self._gap) / (t + 10)
        value = self._center - t**0.5 / 0.05 * self._gap  # (1)
        share = t**-0.75
        self._mean = share * value + (1 - share) * self._mean
        self.now = exp(value)

    @property
    def average(self) -> float:
        """The step averaged over the updates, the later the more."""
        return exp(self._mean)

    def settle(self) -> None:
        """Take the average over the updates, and begin anew around it."""
        self.now = self.average
        self._restart()


def noise(like: Tensor, generator: torch.Generator) -> Tensor:
    """Standard normal numbers in the shape of another tensor.

    Cost: one number each.

    >>> noise(torch.zeros(2, 3), torch.Generator()).shape
    torch.Size([2, 3])
    """
    return torch.randn(like.shape, generator=generator, dtype=like.dtype)
