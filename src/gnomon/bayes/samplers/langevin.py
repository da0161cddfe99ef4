"""Samples by Langevin dynamics (gradient steps with noise), underdamped or overdamped.

Underdamped, with friction B:

    dx = v dt,    dv = grad log p(x) dt - B v dt + sqrt(2 B) dW                                            (1)

whose stationary law is p(x) N(v; 0, I). It is integrated by half steps of gradient and position around an exact step of
friction and noise, so that the variance of a harmonic well in x is right for every step. Overdamped, B to infinity:

    x += e / 2 grad log p(x) + sqrt(e) z                                                                   (2)

accepted or refused by Metropolis' rule where ``adjusted``. Without it, draws are off by O(e^2) for (1), O(e) for (2).

Hypotheses: a log density with a gradient; a step below the period of its stiffest direction.
Reference: [leimkuhler2013rational] for the order of half steps; [roberts1996exponential] for (2) with acceptance.
Cost: one gradient for each draw.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import exp

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.bayes.density import LogDensityWithGradient
from gnomon.bayes.samplers.base import AbstractSampler, SamplerStep, StepSize, normal_like
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_number
from gnomon.core.results.record import Record

__all__ = ["Langevin"]


@dataclass(frozen=True, slots=True)
class Langevin(Record, AbstractSampler):
    """Markov chain sampler by Langevin dynamics: underdamped with a friction, overdamped with ``friction=None``.

    See equations (1) and (2) of the module docstring.
    ``adjusted`` (for the overdamped one) accepts or refuses each step, and adapts the step size during the warm-up.

    >>> from gnomon.bayes import sample_posterior
    >>> draws = sample_posterior(lambda x: -x.square().sum() / 2, torch.zeros(1), method=Langevin(step=0.5), draws=300)
    >>> bool((draws.std - 1).abs() < 0.3)
    True
    """

    step: float = 0.1
    friction: float | None = 1.0
    adjusted: bool = False

    @add_call_to_errors
    def __post_init__(self) -> None:
        check_number("step", self.step, above=0)
        if self.friction is not None:
            check_number("friction", self.friction, above=0)
            if self.adjusted:
                raise InputError("adjusted=True needs overdamped dynamics. Pass friction=None")

    @property
    def title(self) -> str:
        """Returns the name of the sampler for reports."""
        if self.friction is None:
            return "adjusted Langevin" if self.adjusted else "overdamped Langevin"
        return "underdamped Langevin"

    def walk(
        self, density: LogDensityWithGradient, start: Float[Tensor, "c d"], warmup: int, generator: torch.Generator
    ) -> Iterator[SamplerStep]:
        """Yields the steps of all Markov chains, endlessly; adapts the step size during the warm-up."""
        if self.friction is None:
            yield from self._overdamped_steps(density, start, warmup, generator)
            return
        x, v, h = start.clone(), normal_like(start, generator), self.step
        decay, gradient = exp(-self.friction * h), density(x)[1]
        for t in count():
            v = v + h / 2 * gradient
            x = x + h / 2 * v
            v = decay * v + (1 - decay**2) ** 0.5 * normal_like(x, generator)
            x = x + h / 2 * v
            gradient = density(x)[1]
            v = v + h / 2 * gradient  # (1)
            yield SamplerStep(x, gradients=len(x) * (2 if t == 0 else 1))

    def _overdamped_steps(
        self, density: LogDensityWithGradient, start: Tensor, warmup: int, generator: torch.Generator
    ) -> Iterator[SamplerStep]:
        x, size = start.clone(), StepSize(self.step, 0.574)  # 0.574 is the best acceptance rate for many parameters
        value, gradient = density(x)
        for t in count():
            e = size.now
            moved = x + e / 2 * gradient + e**0.5 * normal_like(x, generator)  # (2)
            new_value, new_gradient = density(moved)
            back = (x - moved - e / 2 * new_gradient).square().sum(1) / (2 * e)
            forth = (moved - x - e / 2 * gradient).square().sum(1) / (2 * e)
            probability = (new_value - value - back + forth).nan_to_num(nan=-torch.inf).exp().clamp(max=1)
            taken = torch.rand(len(x), generator=generator, dtype=x.dtype) < probability
            taken = taken if self.adjusted else new_value > -torch.inf
            x, gradient = torch.where(taken[:, None], moved, x), torch.where(taken[:, None], new_gradient, gradient)
            value, accepted = torch.where(taken, new_value, value), float(probability.mean())
            if self.adjusted and t < warmup:
                size.update(accepted)
                if t + 1 == warmup:
                    size.settle()
            yield SamplerStep(x, accepted if self.adjusted else 1.0, gradients=len(x) * (2 if t == 0 else 1))
