"""Defines the interface of all generative models: a training loss, samples, and a log density if the model has one.

``model.likelihood`` says what ``log_prob`` is:

    "exact"          log p(x), to the precision of the arithmetic or of the stated integrator
    "lower bound"    a number that is at most log p(x) on average over its own noise
    "none"           the model has no density: ``log_prob`` raises an error

    bits per dimension = -(mean log p(x) + d log step) / (d log 2)                                         (1)

for examples of d numbers. ``step`` is the distance between neighboring values of data that were discrete before
`dequantize`, so (1) is an upper bound for the code length of the discrete data.

Hypotheses of (1): uniform noise of one step was added. Reference: [theis2016note].
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from math import log, prod
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_finite_inputs, check_integer, check_number, check_seed
from gnomon.core.modules.preserve import preserve
from gnomon.generative.vectors import finite_points

__all__ = ["AbstractGenerative", "bits_per_dimension", "dequantize"]

Likelihood = Literal["exact", "lower bound", "none"]
"""The kinds of ``log_prob`` that a model can have."""
MIN_DISTINCT_SHARE = 0.5
"""Share of distinct values below which numbers count as discrete: continuous ones hardly ever repeat in 24 bits."""
CHECKED_NUMBERS = 10_000
"""Number of values that are checked for repetition."""


class AbstractGenerative(nn.Module, ABC):
    """Base class of generative models, which generate examples of one shape."""

    likelihood: Likelihood
    shape: tuple[int, ...]
    continuous: bool = True
    """Whether the data must be continuous, because a density could be infinite on repeated values."""

    @abstractmethod
    def losses(self, x: Tensor) -> Float[Tensor, " n"]:
        """Returns the training loss of each example; noise comes from torch's random state."""

    @abstractmethod
    def sample(self, n: int, *, seed: int = 0) -> Tensor:
        """Returns n new examples; the same seed gives the same examples."""

    @add_call_to_errors
    def log_prob(self, x: Tensor) -> Float[Tensor, " n"]:
        """Returns the log density of each example, or a lower bound of it, as the field ``likelihood`` states."""
        name = type(self).__name__
        fix = "Compare samples instead, with mmd_test, or train a flow, a VAE or a diffusion model"
        raise InputError(f"a {name} has no density, only samples", accepted="a model with a density", fix=fix)

    @add_call_to_errors
    def loss(self, x: Any) -> Float[Tensor, ""]:
        """Returns the mean training loss over a batch of examples."""
        return self.losses(self.points(x)).mean()

    def points(self, x: Any, *, least: int = 1) -> Tensor:
        """Returns examples as a tensor of this model's shape, dtype and device, or raises an error."""
        given = as_numbers(x, "x")
        if given.dim() == len(self.shape) + 1 and tuple(given.shape[1:]) == self.shape:
            if len(given) < least:
                fix = "Pass more examples"
                raise InputError(f"there is {len(given)} example", accepted=f"at least {least} examples", fix=fix)
            like = next((p for p in self.parameters() if p.is_floating_point()), torch.zeros(()))
            taken = given.to(like.device, like.dtype)
            check_finite_inputs(taken)
            return taken
        found = f"x has shape {tuple(given.shape)}; the model makes examples of shape {self.shape}"
        fix = f"Pass x as (n, {', '.join(map(str, self.shape))})"
        raise InputError(found, accepted="examples of one shape", fix=fix)

    def generator(self, seed: int) -> torch.Generator:
        """Returns a random number generator with this seed."""
        return torch.Generator().manual_seed(check_seed(seed))

    def noise(self, n: int, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
        """Returns standard normal numbers in the model's dtype and device, drawn in float64 for reproducibility."""
        like = next((p for p in self.parameters() if p.is_floating_point()), torch.zeros(()))
        n = check_integer("n", n, least=0)
        drawn = torch.randn(n, *shape, generator=generator, dtype=torch.float64)
        return drawn.to(like.device, like.dtype)

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Context in which the model is in eval mode and no gradients are computed; restores the mode afterwards."""
        with preserve(self, grad=False):
            yield


def standard_normal(z: Tensor) -> Float[Tensor, " n"]:
    """Returns the log density of each example under the standard normal distribution."""
    flat = z.flatten(1)
    return -(flat.square().sum(1) + flat.shape[1] * log(2 * torch.pi)) / 2


def check_continuous(x: Tensor) -> None:
    """Raises an error if the data have many repeated values, because a density can become infinite on them."""
    some = x.flatten()[:CHECKED_NUMBERS]
    distinct = len(some.unique())
    if x.dtype.is_floating_point and distinct >= MIN_DISTINCT_SHARE * len(some):
        return
    found = f"the data take only {distinct} different values in {len(some)} numbers"
    fix = "Pass generative.dequantize(x, step), with step the distance between neighboring values"
    raise InputError(found, accepted="continuous data, on which a density is finite", fix=fix)


def _is_density(model: Any) -> bool:
    """Returns whether the model's ``log_prob`` is a density, which can be infinite, and not a probability."""
    try:
        discrete = bool(getattr(model, "support", None) and model.support.is_discrete)
    except (NotImplementedError, AttributeError):
        discrete = False
    return bool(getattr(model, "continuous", not discrete))


@add_call_to_errors
def dequantize(x: Any, step: float = 1.0, *, seed: int = 0) -> Tensor:
    """Makes discrete data continuous by adding uniform noise, so that a density can be trained on them.

        y = x + step u,    u ~ U[0, 1)                                                                     (1)

    The mean log density of y, plus log step for each number, is at most the log probability of x, so
    `bits_per_dimension` of y is a valid code length of x.

    Hypotheses: neighboring values differ by ``step``. Reference: [theis2016note].
    Cost: one random number for each number.

    >>> y = dequantize(torch.tensor([[0.0, 3.0]]), 1.0)
    >>> y.floor().tolist()
    [[0.0, 3.0]]
    """
    given = as_numbers(x, "x")
    check_finite_inputs(given)
    step = check_number("step", step, above=0)
    generator = torch.Generator().manual_seed(check_seed(seed))
    real = given if given.is_floating_point() else given.to(torch.get_default_dtype())
    return real + step * torch.rand(given.shape, generator=generator, dtype=torch.float64).to(real)  # (1)


@add_call_to_errors
def bits_per_dimension(model: Any, data: Any, *, step: float = 1.0, batch: int = 256) -> float:
    """Returns the negative log likelihood of examples under a model, in bits per dimension.

        bits = -(mean log p(x) + d log step) / (d log 2)                                                   (1)

    Args:
        model: one of `gnomon.generative`, or anything with ``log_prob``, such as a distribution of torch or of zuko.
        data: examples; with ``step``, the output of `dequantize`.
        step: distance between neighboring values before `dequantize`; 1 for continuous data.
        batch: number of examples evaluated at once.

    If ``log_prob`` is a lower bound, the result is an upper bound. Hypotheses: as (1). Reference: [theis2016note].
    Cost: one ``log_prob`` of all examples.

    >>> uniform = torch.distributions.Independent(torch.distributions.Uniform(torch.zeros(2), torch.ones(2)), 1)
    >>> bits_per_dimension(uniform, torch.rand(5, 2), step=1 / 256)               # 256 equally likely values: 8 bits
    8.0
    """
    given = finite_points(data, "x")
    size = check_integer("batch", batch)
    if _is_density(model):
        check_continuous(given)
    parts = [model.log_prob(part).detach().double() for part in given.split(size)]
    d = prod(given.shape[1:])
    return -(float(torch.cat(parts).mean()) / d + log(check_number("step", step, above=0))) / log(2)  # (1)
