"""Noise schedules: how much noise a diffusion model adds in each step.

    x_k = sqrt(1 - beta_k) x_{k-1} + sqrt(beta_k) e    =>    x_k = sqrt(a_k) x_0 + sqrt(1 - a_k) e,
    a_k = prod_{j <= k} (1 - beta_j),    a_0 = 1                                                           (1)
    q(x_{k-1} | x_k, x_0) = N(m, b),    b = beta_k (1 - a_{k-1}) / (1 - a_k),
    m = sqrt(a_{k-1}) beta_k / (1 - a_k) x_0 + sqrt(1 - beta_k) (1 - a_{k-1}) / (1 - a_k) x_k              (2)

Between the steps, log a(t) is linear in t: at every t = k / T the equation dx = -beta(t) x / 2 dt + sqrt(beta(t)) dW
with beta(t) = -d log a / dt has the same marginals as (1).

Hypotheses: 0 < beta_k < 1. References: [ho2020denoising], equations 4 to 7; [song2021score]; [nichol2021improved] for
the cosine.
"""

from dataclasses import dataclass
from functools import cached_property
from math import cos, pi
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_integer, check_number

__all__ = ["NoiseSchedule", "cosine_schedule", "linear_schedule"]

MAX_BETA = 0.999
"""Largest beta of the cosine schedule, as in its source."""


@dataclass(frozen=True, eq=False)
class NoiseSchedule:
    """The noise variances beta_1 ... beta_T of the T steps of a diffusion model in float64, and quantities derived from
    them.

    See equations (1) and (2) of the module docstring.

    >>> schedule = NoiseSchedule(torch.tensor([0.5, 0.5]).double())
    >>> schedule.kept.tolist(), schedule.posterior_variance.tolist()
    ([1.0, 0.5, 0.25], [0.0, 0.3333333333333333])
    """

    betas: Float[Tensor, " t"]

    @add_call_to_errors
    def __post_init__(self) -> None:
        given = as_numbers(self.betas, "betas").double()
        if given.dim() != 1 or not len(given) or not bool(((given > 0) & (given < 1)).all()):
            found = f"betas have shape {tuple(given.shape)}or are not all between 0 and 1"
            raise InputError(found, accepted="a vector of numbers between 0 and 1", fix="Check betas")
        object.__setattr__(self, "betas", given)

    def __len__(self) -> int:
        return len(self.betas)

    @cached_property
    def kept(self) -> Float[Tensor, " t1"]:
        """Returns, for each diffusion step, the fraction of the variance that still comes from the clean example.

        See equation (1) of the module docstring.
        """
        return torch.cat([torch.ones(1, dtype=torch.float64), (1 - self.betas).cumprod(0)])  # (1)

    @cached_property
    def posterior_variance(self) -> Float[Tensor, " t"]:
        """Returns the variance of the noise that each reverse (denoising) step adds; 0 for the first step.

        See equation (2) of the module docstring.
        """
        return self.betas * (1 - self.kept[:-1]) / (1 - self.kept[1:])  # (2)

    def posterior_mean(self, k: int, x0: Tensor, xk: Tensor) -> Tensor:
        """Returns the mean of the reverse (denoising) step k, given the clean example x0 and the noised example xk.

        See equation (2) of the module docstring.
        """
        a, before, beta = float(self.kept[k]), float(self.kept[k - 1]), float(self.betas[k - 1])
        return (before**0.5 * beta * x0 + (1 - beta) ** 0.5 * (1 - before) * xk) / (1 - a)  # (2)

    def kept_at(self, t: Any) -> Tensor:
        """Returns the fraction of variance that still comes from the clean example at times in [0, 1]."""
        places = torch.as_tensor(t, dtype=torch.float64).clamp(0, 1) * len(self)
        low = places.floor().clamp(max=len(self) - 1).long()
        logs = self.kept.log()
        return (logs[low] + (places - low) * (logs[low + 1] - logs[low])).exp()

    def time_at(self, kept: Any) -> Tensor:
        """Returns the time at which the given fraction of the variance still comes from the clean example."""
        logs, wanted = -self.kept.log(), -torch.as_tensor(kept, dtype=torch.float64).log()
        low = (
            (torch.searchsorted(logs, wanted.reshape(-1), right=True) - 1).clamp(0, len(self) - 1).reshape(wanted.shape)
        )
        return (low + (wanted - logs[low]) / (logs[low + 1] - logs[low])) / len(self)

    def weight(self, k: int, variance: float) -> float:
        """Returns the weight of diffusion step k's squared noise error in the evidence lower bound (ELBO).

        beta_k^2 / (2 variance (1 - beta_k) (1 - a_k))
        """
        beta = float(self.betas[k - 1])
        return beta**2 / (2 * variance * (1 - beta) * (1 - float(self.kept[k])))


@add_call_to_errors
def linear_schedule(steps: int = 1000, *, first: float | None = None, last: float | None = None) -> NoiseSchedule:
    """Returns a noise schedule of a diffusion model whose noise variances grow linearly from step to step.

        beta_k = first + (last - first) (k - 1) / (T - 1)                                                  (1)

    By default first = 0.1 / T and last = 20 / T, at most 0.999. These are the values 1e-4 and 0.02 of the source for
    T = 1000, scaled to other numbers of steps.

    Hypotheses: none. Reference: [ho2020denoising].

    >>> schedule = linear_schedule(1000)
    >>> [round(float(b), 6) for b in schedule.betas[[0, -1]]], bool(schedule.kept[-1] < 1e-4)
    ([0.0001, 0.02], True)
    """
    t = check_integer("steps", steps)
    low = check_number("first", 0.1 / t if first is None else first, above=0, below=1)
    high = check_number("last", min(20 / t, MAX_BETA) if last is None else last, above=0, below=1)
    return NoiseSchedule(torch.linspace(low, high, t, dtype=torch.float64))  # (1)


@add_call_to_errors
def cosine_schedule(steps: int = 1000, *, offset: float = 0.008) -> NoiseSchedule:
    """Returns a noise schedule in which the fraction of variance from the clean example falls like a cosine.

        a_k = f(k) / f(0),    f(k) = cos^2(pi / 2 (k / T + offset) / (1 + offset)),    beta_k <= 0.999     (1)

    Hypotheses: none. Reference: [nichol2021improved].

    >>> round(float(cosine_schedule(1000).kept[500]), 2)
    0.49
    """
    t = check_integer("steps", steps)
    f = [cos(pi / 2 * (k / t + offset) / (1 + offset)) ** 2 for k in range(t + 1)]
    betas = [min(1 - b / a, MAX_BETA) for a, b in zip(f, f[1:], strict=False)]
    return NoiseSchedule(torch.tensor(betas, dtype=torch.float64))  # (1)
