"""Samples by a Gaussian random walk with acceptance tests (Metropolis-Hastings).

    x' = x + s L z,  z ~ N(0, I);    accept with probability min(1, p(x') / p(x))                          (1)

The proposal is symmetric, so its ratio in Hastings' rule is one. During warm-up s is adapted to the acceptance rate
that is best for a random walk in many dimensions, 0.234 (0.44 in one), and L to the covariance of the draws so far.

Hypotheses: a density that is positive on one connected region.
Reference: [metropolis1953equation]; [hastings1970monte]; [roberts1997weak] for 0.234.
Cost: one evaluation of the log density for each draw.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.bayes.density import LogDensityWithGradient
from gnomon.bayes.samplers.base import AbstractSampler, SamplerStep, StepSize, normal_like
from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_number
from gnomon.core.results.record import Record

__all__ = ["Metropolis"]


@dataclass(frozen=True, slots=True)
class Metropolis(Record, AbstractSampler):
    """Markov chain sampler by a random walk (Metropolis-Hastings) with step ``scale``, which adapts during warm-up.

    See equation (1) of the module docstring.

    >>> from gnomon.bayes import sample_posterior
    >>> density = lambda x: -x.square().sum() / 2
    >>> draws = sample_posterior(density, torch.zeros(1), method=Metropolis(), draws=200, warmup=200)
    >>> 0.3 < draws.accepted < 0.6                                            # 0.44 is best in one dimension
    True
    """

    scale: float = 1.0
    adapt: bool = True

    @add_call_to_errors
    def __post_init__(self) -> None:
        check_number("scale", self.scale, above=0)

    @property
    def title(self) -> str:
        """Returns the name of the sampler for reports."""
        return "Metropolis"

    def walk(
        self, density: LogDensityWithGradient, start: Float[Tensor, "c d"], warmup: int, generator: torch.Generator
    ) -> Iterator[SamplerStep]:
        """Yields the steps of all Markov chains, endlessly; adapts the step size during the warm-up."""
        x, (chains, d) = start.clone(), start.shape
        log_p = density(x)[0]
        size, factor = StepSize(self.scale, 0.44 if d == 1 else 0.234), torch.eye(d, dtype=x.dtype)
        seen: list[Tensor] = []
        for t in count():
            proposed = x + size.now * normal_like(x, generator) @ factor.T
            value = density(proposed)[0]
            probability = (value - log_p).exp().clamp(max=1)
            taken = torch.rand(chains, generator=generator, dtype=x.dtype) < probability  # (1)
            x, log_p = torch.where(taken[:, None], proposed, x), torch.where(taken, value, log_p)
            if self.adapt and t < warmup:
                size.update(float(probability.mean()))
                seen.append(x)
                if t == warmup - warmup // 2 and len(seen) * chains > 4 * d:
                    factor = _factor(torch.cat(seen[len(seen) // 2 :]))
                    size.restart(2.4 / d**0.5)
                if t + 1 == warmup:
                    size.settle()
            yield SamplerStep(x, float(probability.mean()), gradients=chains * (2 if t == 0 else 1))


def _factor(points: Tensor) -> Tensor:
    """Returns a Cholesky factor of the points' covariance, shrunk towards its diagonal if there are few points."""
    n, d = points.shape
    covariance = torch.cov(points.T).reshape(d, d)
    diagonal = covariance.diagonal().clamp(min=1e-12).diag()
    share = n / (n + 5 * d)
    return torch.linalg.cholesky(share * covariance + (1 - share) * diagonal + 1e-9 * diagonal)
