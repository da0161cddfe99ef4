"""Chooses the most efficient trajectory length for Hamiltonian Monte Carlo from statistics of the warm-up.

For a statistic a of the state, here scaled coordinates and their squares, paths of the duration t give

    c(t) = E[p(t) (a(t) - a(0))^2] / (2 var a)                                                         (1)

with p(t) the probability of acceptance: one minus the autocorrelation of a chain made of such paths. If durations
are uniform on (0, 2 T) and a leapfrog step lasts e, the effective draws for each gradient go as

    rate(T) = C / (2 - C) / max(1, T / e + 1/2),    C = (1 / 2 T) integral of c over (0, 2 T)          (2)

Rates of a coordinate and of its square are joined by their harmonic mean, so that neither means nor variances are
neglected, and the slowest coordinate counts. Every step of every path is a measurement of (1), so that a few chains
suffice, while gradients of (2) with respect to T, which see only the ends of paths, need many.

Hypotheses: chains near their stationary distribution; the autocorrelation of a chain falls geometrically.
Reference: [geyer1992practical] for the variance of the mean of such a chain; [hoffman2021adaptive] maximizes C / T;
[sountsov2021focusing] for following the direction in which the draws vary most.
Cost: the statistics, at most 64 numbers, of each state on the way.
"""

import torch
from torch import Tensor

__all__ = ["TrajectoryStatistics"]

MAX_FOLLOWED_COORDINATES = 31
"""Maximum number of coordinates followed, evenly spaced, in addition to the direction of largest variance."""
TIMES = torch.logspace(-2, 3, 100, dtype=torch.float64)
"""Durations in scaled coordinates, 12 % apart: a bin is narrow against the quarter of a period that matters."""


class TrajectoryStatistics:
    """Records how far trajectories of each duration move the Markov chains during the warm-up.

    >>> normal = torch.randn(4000, 1, generator=torch.Generator().manual_seed(0)).double()
    >>> travel = TrajectoryStatistics(normal, torch.ones(1).double(), torch.ones(1).double())
    >>> speed = torch.randn(4000, 1, generator=torch.Generator().manual_seed(1)).double()
    >>> for t in TIMES[(0.1 < TIMES) & (TIMES < 4)]:                     # a harmonic well: x cos t + v sin t
    ...     travel.see(float(t), normal, normal * t.cos() + speed * t.sin(), torch.ones(4000).double())
    >>> length, ended = travel.best(0.5)
    >>> 0.7 < length < 1.6, ended                                        # a quarter of the period 2 pi, twice at most
    (True, False)
    """

    def __init__(self, points: Tensor, scale: Tensor, main: Tensor) -> None:
        d = points.shape[1]
        self._mean, self._scale, self._main = points.mean(0), scale, main
        self._some = torch.linspace(0, d - 1, min(d, MAX_FOLLOWED_COORDINATES)).round().long()
        statistics = self._statistics(points)
        self._variance = statistics.var(0).clamp(min=torch.finfo(points.dtype).tiny)
        self._sum = torch.zeros(len(TIMES), statistics.shape[1], dtype=points.dtype)
        self._count = torch.zeros(len(TIMES), dtype=points.dtype)

    def see(self, time: float, before: Tensor, after: Tensor, accepted: Tensor) -> None:
        """Records how far all Markov chains moved within a given time, weighted by their acceptance probabilities."""
        moved = (self._statistics(after) - self._statistics(before)).square()
        place = min(int(torch.searchsorted(TIMES, time)), len(TIMES) - 1)
        self._sum[place] += torch.where(accepted[:, None] > 0, accepted[:, None] * moved, 0.0).sum(0)
        self._count[place] += len(before)

    def best(self, step: float) -> tuple[float, bool]:
        """Returns the most efficient trajectory duration, and whether it is the longest one that was measured."""
        seen = self._count > 0
        times = TIMES[seen]
        carried = (self._sum[seen] / self._count[seen, None] / (2 * self._variance)).clamp(max=1.98)  # (1)
        start = torch.zeros(1, dtype=times.dtype)
        curve = torch.cat([start.expand(1, carried.shape[1]), carried])
        mean = torch.cumulative_trapezoid(curve, torch.cat([start, times]), dim=0) / times[:, None]
        # Divides by the number of draws that are worth as much as one independent draw.
        linear, square = ((2 - mean) / mean.clamp(min=1e-12)).chunk(2, dim=1)
        rate = 1 / (linear + square).max(1).values / (times / 2 / step + 0.5).clamp(min=1)  # (2)
        place = int(rate.argmax())
        return float(times[place]) / 2, place == len(times) - 1

    def _statistics(self, x: Tensor) -> Tensor:
        z = (x - self._mean) / self._scale
        followed = torch.cat([(z @ self._main)[:, None], z[:, self._some]], 1)
        return torch.cat([followed, followed.square()], 1)
