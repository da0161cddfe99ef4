"""Samples by Langevin dynamics with gradients on minibatches: SGLD and SGHMC.

With E the potential of a random batch, scaled up to all examples:

    v = (1 - e c) v - e grad E(x) + sqrt(2 c e) z,    x += e v         with friction c (SGHMC)             (1)
    x += -e / 2 grad E(x) + sqrt(e) z                                  without momentum (SGLD)             (2)

No proposal is rejected: draws have an error of O(e), and the noise of batches widens them by its variance times e.

Hypotheses: a step far below the inverse of the largest curvature; batches drawn at random.
Reference: [welling2011bayesian] for (2); [chen2014stochastic] for (1).
Cost: one gradient of a batch for each draw.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor
from torch.func import grad, vmap

from gnomon.bayes.density import LogDensityWithGradient
from gnomon.bayes.posterior import ModulePosterior
from gnomon.bayes.samplers.base import AbstractSampler, SamplerStep, normal_like
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.results.record import Record

__all__ = ["StochasticGradientSampler"]


@dataclass(frozen=True, slots=True)
class StochasticGradientSampler(Record, AbstractSampler):
    """Markov chain sampler with minibatch gradients: SGHMC with a friction, SGLD with ``friction=None``.

    See equations (1) and (2) of the module docstring.

    >>> from torch import nn
    >>> from gnomon.bayes import module_posterior, sample_posterior
    >>> x = torch.linspace(-1, 1, 64)[:, None].double()
    >>> posterior = module_posterior(nn.Linear(1, 1).double(), (x, x[:, 0]), prior_std=1.0, noise=1.0)
    >>> method = StochasticGradientSampler(1e-3, batch=16)
    >>> draws = sample_posterior(posterior, posterior.start, method=method, draws=50, warmup=10)
    >>> draws.values.shape
    torch.Size([8, 50, 2])
    """

    step: float = 1e-3
    friction: float | None = None
    batch: int = 32

    @add_call_to_errors
    def __post_init__(self) -> None:
        check_number("step", self.step, above=0)
        check_integer("batch", self.batch)
        if self.friction is not None:
            check_number("friction", self.friction, above=0, below=1 / self.step)

    @property
    def title(self) -> str:
        """Returns the name of the sampler for reports."""
        return "SGLD" if self.friction is None else "SGHMC"

    def walk(
        self, density: LogDensityWithGradient, start: Float[Tensor, "c d"], warmup: int, generator: torch.Generator
    ) -> Iterator[SamplerStep]:
        """Yields the steps of all Markov chains, endlessly, with gradients on minibatches."""
        posterior = density.function
        if not isinstance(posterior, ModulePosterior):
            raise InputError("StochasticGradientSampler needs data. Pass module_posterior(module, data)")
        x, v, e = start.clone(), torch.zeros_like(start), self.step
        while True:
            index = torch.randperm(len(posterior), generator=generator)[: self.batch]
            value = posterior.on_batch(index)
            force = vmap(grad(value))(x) if density.mapped else torch.stack([grad(value)(point) for point in x])
            if self.friction is None:
                x = x + e / 2 * force + e**0.5 * normal_like(x, generator)  # (2)
            else:
                c = self.friction
                v = (1 - e * c) * v + e * force + (2 * c * e) ** 0.5 * normal_like(x, generator)  # (1)
                x = x + e * v
            if not bool(x.isfinite().all()):
                raise InputError(f"StochasticGradientSampler(step={e:g}): the chain diverged. Use a smaller step.")
            yield SamplerStep(x, gradients=len(x))
