"""Base class of Markov chain samplers, and a step size that adapts to the acceptance rate."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import exp, log

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.bayes.density import LogDensityWithGradient
from gnomon.bayes.draws import PosteriorDraws
from gnomon.core.errors import BudgetError, add_call_to_errors
from gnomon.core.machine.memory import SHARE_OF_FREE_MEMORY, free_bytes
from gnomon.core.results.record import Record

__all__ = ["AbstractSampler", "SamplerStep", "StepSize", "normal_like"]


@dataclass(frozen=True, slots=True, eq=False)
class SamplerStep(Record):
    """One step of a Markov chain sampler: new positions of all chains, acceptance rate and cost.

    ``accepted`` is the mean probability of acceptance, ``gradients`` counts evaluations of the log density.

    >>> SamplerStep(torch.zeros(4, 2), gradients=4).divergences
    0
    """

    x: Float[Tensor, "c d"] = field(repr=False)
    accepted: float = 1.0
    divergences: int = 0
    gradients: int = 0


class AbstractSampler(ABC):
    """Base class of Markov chain samplers, whose draws follow a given density, at least approximately."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Returns the name of the sampler for reports."""

    @abstractmethod
    def walk(
        self, density: LogDensityWithGradient, start: Float[Tensor, "c d"], warmup: int, generator: torch.Generator
    ) -> Iterator[SamplerStep]:
        """Yields the steps of all Markov chains, endlessly; the sampler adapts during the first ``warmup`` steps."""

    @add_call_to_errors("sample_posterior(log_density, start)")
    def run(
        self,
        density: LogDensityWithGradient,
        start: Float[Tensor, "c d"],
        draws: int,
        warmup: int,
        generator: torch.Generator,
        progress: Callable[[int, int], None] | None = None,
    ) -> PosteriorDraws:
        """Runs all Markov chains and returns their draws after the warm-up; if interrupted, the draws so far."""
        chains, d = start.shape
        if (needed := 8 * chains * draws * d) > SHARE_OF_FREE_MEMORY * free_bytes():
            what = f"{draws:,} draws of {d:,} numbers in {chains} chains need {needed / 1e9:.1f} GB"
            raise BudgetError(f"{what}. Pass fewer draws or chains")
        values = torch.empty(chains, draws, d, dtype=start.dtype)
        kept, accepted, divergences, gradients, stopped = 0, 0.0, 0, 0, "finished"
        try:
            for t, step in zip(range(-warmup, draws), self.walk(density, start, warmup, generator), strict=False):
                gradients += step.gradients
                if t >= 0:
                    values[:, t], kept = step.x, t + 1
                    accepted, divergences = accepted + step.accepted, divergences + step.divergences
                if progress is not None:
                    progress(warmup + t + 1, warmup + draws)
        except KeyboardInterrupt:
            if not kept:
                raise
            stopped = "interrupted"
        return PosteriorDraws(
            values[:, :kept], self.title, accepted / kept, divergences, gradients, warmup, stopped=stopped
        )


class StepSize:
    """A sampler's step size, which adapts until the mean acceptance rate reaches its target (dual averaging).

        log e[t + 1] = mu - sqrt(t) / gamma * 1 / (t + t0) sum_s (target - a[s])                           (1)

    Reference: [hoffman2014sampler], section 3.2, equation 6.

    >>> size = StepSize(1.0, 0.8)
    >>> size.update(0.2)
    >>> size.now < 1                                                   # too few were accepted: shorter steps
    True
    """

    def __init__(self, first: float, target: float) -> None:
        self.target = target
        self.restart(first)

    def restart(self, first: float) -> None:
        """Discards the adaptation of the step size so far and restarts it from another step size."""
        self.now = first
        self._center, self._gap, self._mean, self._t = log(2 * self.now), 0.0, log(self.now), 0

    def update(self, accepted: float) -> None:
        """Adapts the step size to the mean acceptance rate of the last step."""
        self._t += 1
        t = self._t
        self._gap += (self.target - accepted - self._gap) / (t + 10)
        value = self._center - t**0.5 / 0.05 * self._gap  # (1)
        share = t**-0.75
        self._mean = share * value + (1 - share) * self._mean
        self.now = exp(value)

    @property
    def average(self) -> float:
        """Returns the weighted mean of the step sizes so far, with more weight on recent ones."""
        return exp(self._mean)

    def settle(self) -> None:
        """Sets the step size to the mean of the previous ones, and restarts the adaptation from this value."""
        self.restart(self.average)


def normal_like(like: Tensor, generator: torch.Generator) -> Tensor:
    """Returns standard normal random numbers in the shape of another tensor.

    Cost: one number each.

    >>> normal_like(torch.zeros(2, 3), torch.Generator()).shape
    torch.Size([2, 3])
    """
    return torch.randn(like.shape, generator=generator, dtype=like.dtype)
