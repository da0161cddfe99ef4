"""Langevin dynamics, underdamped and overdamped.

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

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.bayes.density import Density
from gnomon.bayes.draws import Draws
from gnomon.bayes.samplers.base import AbstractSampler, StepSize, noise
from gnomon.core.checks import number
from gnomon.core.errors import InputError
from gnomon.core.record import Record

__all__ = ["Langevin"]


@dataclass(frozen=True, slots=True)
class Langevin(Record, AbstractSampler):
    """Underdamped dynamics (1) with a friction, overdamped (2) with ``friction=None``.

    ``adjusted`` (for the overdamped one) accepts or refuses each step, and adapts the step size during the warm-up.

    >>> from gnomon.bayes import sample
    >>> draws = sample(lambda x: -x.square().sum() / 2, torch.zeros(1), method=Langevin(step=0.5), draws=300)
    >>> bool((draws.std - 1).abs() < 0.3)
    True
    """

    step: float = 0.1
    friction: float | None = 1.0
    adjusted: bool = False

    def __post_init__(self) -> None:
        number("step", self.step, call="Langevin(step=...)", above=0)
        if self.friction is not None:
            number("friction", self.friction, call="Langevin(friction=...)", above=0)
            if self.adjusted:
                raise InputError(
                    "Langevin(adjusted=True): only the overdamped dynamics is adjusted. Pass friction=None."
                )

    def run(
        self, density: Density, start: Float[Tensor, "c d"], draws: int, warmup: int, generator: torch.Generator
    ) -> Draws:
        """See `AbstractSampler`."""
        if self.friction is None:
            return self._overdamped(density, start, draws, warmup, generator)
        x, (chains, d), h, decay = start.clone(), start.shape, self.step, 0.0
        kept, v = torch.empty(chains, draws, d, dtype=x.dtype), noise(x, generator)
        decay = float(torch.exp(torch.tensor(-self.friction * h, dtype=x.dtype)))
        gradient = density(x)[1]
        for t in range(-warmup, draws):
            v = v + h / 2 * gradient
            x = x + h / 2 * v
            v = decay * v + (1 - decay**2) ** 0.5 * noise(x, generator)
            x = x + h / 2 * v
            gradient = density(x)[1]
            v = v + h / 2 * gradient  # (1)
            if t >= 0:
                kept[:, t] = x
        return Draws(kept, "underdamped Langevin", 1.0, 0, chains * (draws + warmup + 1), warmup)

    def _overdamped(
        self, density: Density, start: Tensor, draws: int, warmup: int, generator: torch.Generator
    ) -> Draws:
        x, (chains, d), size = (
            start.clone(),
            start.shape,
            StepSize(self.step, 0.574),
        )  # 0.574 is best in many dimensions
        (value, gradient), accepted = density(x), 0.0
        kept = torch.empty(chains, draws, d, dtype=x.dtype)
        for t in range(-warmup, draws):
            e = size.now
            moved = x + e / 2 * gradient + e**0.5 * noise(x, generator)  # (2)
            new_value, new_gradient = density(moved)
            back = (x - moved - e / 2 * new_gradient).square().sum(1) / (2 * e)
            forth = (moved - x - e / 2 * gradient).square().sum(1) / (2 * e)
            probability = (new_value - value - back + forth).nan_to_num(nan=-torch.inf).exp().clamp(max=1)
            taken = torch.rand(chains, generator=generator, dtype=x.dtype) < probability
            taken = taken if self.adjusted else new_value > -torch.inf
            x, gradient = torch.where(taken[:, None], moved, x), torch.where(taken[:, None], new_gradient, gradient)
            value = torch.where(taken, new_value, value)
            if t >= 0:
                kept[:, t], accepted = x, accepted + float(probability.mean()) / draws
            elif self.adjusted:
                size.update(float(probability.mean()))
                if t == -1:
                    size.settle()
        name = "adjusted Langevin" if self.adjusted else "overdamped Langevin"
        return Draws(kept, name, accepted if self.adjusted else 1.0, 0, chains * (draws + warmup + 1), warmup)
