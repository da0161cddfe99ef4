"""Draws samples from any log density by Markov chains."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gnomon.bayes.density import LogDensity, LogDensityWithGradient
from gnomon.bayes.draws import PosteriorDraws
from gnomon.bayes.samplers import HMC, AbstractSampler
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_integer, check_seed, check_type

__all__ = ["sample_posterior"]


@add_call_to_errors
def sample_posterior(
    log_density: LogDensity,
    start: Any,
    *,
    method: Any = None,
    chains: int = 8,
    draws: int = 1000,
    warmup: int = 500,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> PosteriorDraws:
    """Returns draws of several Markov chains from a density that is known up to a constant factor.

        q(x) P(x' | x) = q(x') P(x | x')   for the density q and the chain P                             (1)

    Args:
        log_density: from a point, a tensor (d,), to the logarithm of the density, a tensor of shape ().
        start: one point (d,), spread by a tenth of a unit for each chain, or a point for each chain (chains, d).
        method: `HMC()` by default; `Metropolis()`, `Langevin()`, or for a `module_posterior`
            `StochasticGradientSampler()`.
        chains: number of chains, run in parallel in one batch.
        draws: number of draws kept of each chain.
        warmup: number of draws before those, in which the method adapts; they are discarded.
        seed: the same seed gives the same draws.
        progress: called with (steps done, steps) after each step of all chains, warm-up included.

    An interrupt (Ctrl-C) after the warm-up ends the chains, and the draws so far are returned; ``stopped`` says so.

    Hypotheses: the density has a gradient (not needed for `Metropolis`) and one connected region that contains its
    mass; ``converged`` says whether the chains have found it.
    Reference: [neal2011mcmc], section 5.3; [metropolis1953equation].
    Cost: gradients of all chains in one batch: one for each draw, or one for each leapfrog step.

    >>> result = sample_posterior(lambda x: -(x - 3).square().sum() / 8, torch.zeros(2), draws=50, warmup=80)
    >>> bool(((result.mean - 3).abs() < 4 * result.error).all()), result.values.shape
    (True, torch.Size([8, 50, 2]))
    """
    chains, draws = check_integer("chains", chains), check_integer("draws", draws)
    warmup = check_integer("warmup", warmup, least=0)
    sampler = HMC() if method is None else method
    check_type("method", sampler, AbstractSampler, fix="Pass HMC(), Langevin() or Metropolis()")
    generator = torch.Generator().manual_seed(check_seed(seed))
    points = _points(start, chains, generator)
    density = LogDensityWithGradient.of(log_density, points)
    return sampler.run(density, points, draws, warmup, generator, progress)


def _points(start: Any, chains: int, generator: torch.Generator) -> Tensor:
    points = as_numbers(start, "start").detach().double()
    if points.dim() == 1:
        points = points + 0.1 * torch.randn(chains, len(points), generator=generator, dtype=torch.float64)
    if points.dim() != 2 or len(points) != chains or not points.shape[1]:
        shape = tuple(points.shape)
        raise InputError(f"start must be a point (d,) or {chains} points ({chains}, d), but its shape is {shape}")
    return points
