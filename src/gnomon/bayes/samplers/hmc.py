"""Samples by Hamiltonian Monte Carlo, with adapted step size, coordinate scales and trajectory length.

With momenta v ~ N(0, M) and the energy H(x, v) = -log p(x) + v^T M^-1 v / 2, a path of leapfrog steps

    v += e / 2 grad log p(x),    x += e M^-1 v,    v += e / 2 grad log p(x)                                (1)

is accepted with probability min(1, exp(H(start) - H(end))). Leapfrog keeps volumes and errs in H by O(e^2) for any
number of steps; explicit Euler, as sometimes printed, multiplies the energy of a harmonic well by 1 + e^2 each step.

During warm-up e follows the acceptance (dual averaging), M^-1 the variances of the draws, and the path length T becomes
the one with the most effective draws for each gradient, as measured along all paths (`gnomon.bayes.samplers.travel`).
Each path has the length 2 h T with h from a Halton sequence, so that no period of the dynamics is hit again and again,
and long and short paths come in turn: on a Gaussian this makes the variance of means up to three times smaller than
lengths drawn at random do, and `gnomon.bayes.effective_sample_size` counts it.

Hypotheses: a log density with a gradient, on all of R^d.
Reference: [neal2011mcmc]; [hoffman2021adaptive] for path lengths that adapt over several chains.
Cost: one gradient for each leapfrog step of each chain, all chains in one batch.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from math import ceil, exp, log

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.bayes.density import LogDensityWithGradient
from gnomon.bayes.samplers.base import AbstractSampler, SamplerStep, StepSize, normal_like
from gnomon.bayes.samplers.travel import TrajectoryStatistics
from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.core.results.record import Record

__all__ = ["HMC", "leapfrog"]

DIVERGENT_ENERGY_ERROR = 1000.0
"""Energy error at which a path counts as divergent, as in Stan."""
WARMUP_PATH_FACTOR = 1.5
"""Warm-up paths are longer by this factor, to see whether longer paths would pay."""
MIN_KEPT_DRAWS = 16
"""Warm-up draws kept for the variances, at least."""
MAX_KEPT_NUMBERS = 2**24
"""Numbers in all kept warm-up draws, at most, unless the minimum number of draws needs more."""


@dataclass(frozen=True, slots=True)
class HMC(Record, AbstractSampler):
    """Markov chain sampler by Hamiltonian Monte Carlo; the step size adapts to the acceptance rate ``accept``.

    ``length`` fixes the path length T in units of the scaled coordinates, by default it adapts; ``most`` bounds the
    leapfrog steps of one path.

    >>> from gnomon.bayes import sample_posterior
    >>> scales = torch.tensor([1.0, 100.0]).double()
    >>> draws = sample_posterior(lambda x: -(x / scales).square().sum() / 2, torch.zeros(2), draws=60, warmup=100)
    >>> bool((draws.std / scales - 1).abs().max() < 0.5), draws.divergences
    (True, 0)
    """

    accept: float = 0.75
    length: float | None = None
    most: int = 256

    @add_call_to_errors
    def __post_init__(self) -> None:
        check_number("accept", self.accept, above=0, below=1)
        check_integer("most", self.most)
        if self.length is not None:
            check_number("length", self.length, above=0)

    @property
    def title(self) -> str:
        """Returns the name of the sampler for reports."""
        return "HMC"

    def walk(
        self, density: LogDensityWithGradient, start: Float[Tensor, "c d"], warmup: int, generator: torch.Generator
    ) -> Iterator[SamplerStep]:
        """Yields the steps of all Markov chains, endlessly; adapts step size and trajectory length during the
        warm-up.
        """
        state, before = _HmcState(self, density, start, generator), 0
        for t in count():
            probability, error = state.move(t, warm=t < warmup)
            if t < warmup:
                state.adapt(probability, t, warmup)
            yield SamplerStep(
                state.x,
                float(probability.mean()),
                int((error > DIVERGENT_ENERGY_ERROR).sum()),
                state.gradients - before,
            )
            before = state.gradients


def leapfrog(
    density: LogDensityWithGradient, x: Tensor, v: Tensor, gradient: Tensor, step: float, variance: Tensor, steps: int
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Integrates Hamiltonian dynamics by leapfrog steps; returns positions, momenta, log densities and gradients.

    See equation (1) of the module docstring.
    Cost: one gradient for each step.

    >>> p = LogDensityWithGradient(lambda x: -x.square().sum() / 2, True)
    >>> one, none = torch.ones(1, 1).double(), torch.zeros(1, 1).double()
    >>> x, v, value, _ = leapfrog(p, one, none, -one, 0.1, torch.ones(1).double(), 63)       # a period is 2 pi / 0.1
    >>> bool((x - 1).abs() < 0.01), bool((v.square() / 2 - value - 0.5).abs() < 0.1**2)
    (True, True)
    """
    value = torch.zeros(len(x), dtype=x.dtype)
    v = v + step / 2 * gradient
    for i in range(steps):
        x = x + step * variance * v
        value, gradient = density(x)
        v = v + (step if i < steps - 1 else step / 2) * gradient  # (1)
    return x, v, value, gradient


class _HmcState:
    """State of the HMC sampler: positions of the chains, and the adapted step size, path length and variances."""

    def __init__(
        self, options: HMC, density: LogDensityWithGradient, start: Tensor, generator: torch.Generator
    ) -> None:
        self.options, self.density, self.generator = options, density, generator
        self.x = start.clone()
        self.value, self.gradient = density(self.x)
        self.variance = torch.ones(start.shape[1], dtype=start.dtype)
        self.gradients = len(start)
        self.size = StepSize(self._first_step(), options.accept)
        self.log_length = log(options.length or max(self.size.now, 1.0))
        self._seen: deque[Tensor] = deque(maxlen=max(MIN_KEPT_DRAWS, MAX_KEPT_NUMBERS // start.numel()))
        self._travel: TrajectoryStatistics | None = None

    def move(self, t: int, *, warm: bool) -> tuple[Tensor, Tensor]:
        """Runs one Hamiltonian trajectory of every chain; returns acceptance probabilities and energy errors."""
        longer = WARMUP_PATH_FACTOR if warm and self._travel is not None else 1.0
        steps = min(self.options.most, max(1, ceil(2 * longer * _halton(t + 1) * exp(self.log_length) / self.size.now)))
        v = normal_like(self.x, self.generator) / self.variance.sqrt()
        energy = (self.variance * v.square()).sum(1) / 2 - self.value
        x, w, value, gradient = self.x, v, self.value, self.gradient
        for i in range(1, steps + 1):
            x, w, value, gradient = leapfrog(self.density, x, w, gradient, self.size.now, self.variance, 1)
            if i == steps or (warm and self._travel is not None):
                error = ((self.variance * w.square()).sum(1) / 2 - value - energy).nan_to_num(torch.inf, torch.inf)
                probability = (-error).exp().clamp(max=1)
            if warm and self._travel is not None:
                self._travel.see(i * self.size.now, self.x, x, probability)
        self.gradients += steps * len(x)
        taken = torch.rand(len(x), generator=self.generator, dtype=x.dtype) < probability
        self.x = torch.where(taken[:, None], x, self.x)
        self.value = torch.where(taken, value, self.value)
        self.gradient = torch.where(taken[:, None], gradient, self.gradient)
        return probability, error

    def adapt(self, probability: Tensor, t: int, warmup: int) -> None:
        """Adapts the step size after every trajectory, and at intervals the trajectory length and coordinate
        variances.
        """
        self.size.update(float(probability.mean()))
        self._seen.append(self.x)
        if self._travel is not None and (t % 5 == 0 or t + 1 == warmup):
            self._lengthen(self._travel)
        if t + 1 in {warmup // 8, warmup // 4, warmup // 2, 3 * warmup // 4} and len(self._seen) > 4:
            points = torch.cat(list(self._seen)[len(self._seen) // 2 :])
            n = len(points)
            # Shrinks the estimated variance towards 1e-3, with the same weights as the sampler Stan.
            self.variance = (points.var(0) * n + 1e-3 * 5) / (n + 5)
            if self.options.length is None:
                scale = self.variance.sqrt()
                self._travel = TrajectoryStatistics(points, scale, self._leading((points - points.mean(0)) / scale))
            self._seen.clear()
            self.size.restart(self._first_step())
        if t + 1 == warmup:
            self.size.settle()

    def _lengthen(self, travel: TrajectoryStatistics) -> None:
        """Sets the trajectory length to the most efficient measured one, or to twice the longest if that was
        the best.
        """
        step = self.size.average
        length, ended = travel.best(step)
        self.log_length = min(log(2 * length if ended else length), log(step * self.options.most / 2))

    def _leading(self, points: Tensor) -> Tensor:
        """Returns the first principal component of the points, a unit vector, computed by power iteration."""
        u = normal_like(points[0], self.generator)
        for _ in range(30):
            u = points.T @ (points @ u)
            u = u / u.norm().clamp(min=torch.finfo(u.dtype).tiny)
        return u

    def _first_step(self) -> float:
        """Returns an initial step size for the sampler: doubles or halves it until the acceptance rate crosses 0.8."""
        step, up = 1.0, None
        v = normal_like(self.x, self.generator) / self.variance.sqrt()
        for _ in range(40):
            _, w, value, _ = leapfrog(self.density, self.x, v, self.gradient, step, self.variance, 1)
            self.gradients += len(self.x)
            change = (
                value - (self.variance * w.square()).sum(1) / 2 - self.value + (self.variance * v.square()).sum(1) / 2
            )
            accepted = float(change.nan_to_num(nan=-torch.inf).clamp(max=0).exp().mean())
            if up is not None and (accepted > 0.8) != up:
                break
            up = accepted > 0.8
            step = 2 * step if up else step / 2
        return step


def _halton(t: int) -> float:
    """Returns the t-th number of the van der Corput sequence in base 2, which spreads evenly over (0, 1)."""
    value, digit = 0.0, 0.5
    while t:
        value, t, digit = value + digit * (t & 1), t >> 1, digit / 2
    return value
