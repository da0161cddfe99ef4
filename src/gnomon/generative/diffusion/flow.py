"""Computes samples and log densities of a diffusion model by its deterministic equation (the probability-flow
equation).

Let cos(h)^2 = a be the share of the example that is left, so that x = cos(h) x_0 + sin(h) e and h grows from 0 to
almost pi / 2:

    dx/dh = v(x, h) = -tan(h) (x + grad log q_h(x)),
    log q_0(x(0)) = log N(x(h_T); 0, I) + int tr(dv/dx) dh                                                 (1)

v is the mean velocity cos(h) e - sin(h) x_0 given x, which is smooth at both ends: the change of time removes the
factor beta(t) of the usual form.

Hypotheses: the score is exact (otherwise the density belongs to the flow, not to the diffusion); the last step is close
to N(0, I). Reference: [song2021score], equations 13 and 39.
"""

from collections.abc import Callable
from math import cos, tan

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_number
from gnomon.generative.continuous import transport_checked
from gnomon.generative.diffusion.schedule import NoiseSchedule
from gnomon.generative.divergence import AbstractTraceEstimator, ExactTrace
from gnomon.generative.model import standard_normal
from gnomon.generative.vectors import check_vectors, finite_points

__all__ = ["flow_log_prob", "flow_samples"]

Score = Callable[[Tensor, Tensor], Tensor]
"""A function from noised examples and times (n,) to gradients of the log density, such as ``Diffusion.score``."""


@add_call_to_errors
def flow_log_prob(
    score: Score,
    x: Tensor,
    schedule: NoiseSchedule,
    *,
    steps: int = 100,
    first: float = 0.0,
    trace: AbstractTraceEstimator | None = None,
) -> Float[Tensor, " n"]:
    """Returns the log density of examples, computed by the deterministic probability-flow equation.

        log q_0(x) = log N(x(h_T); 0, I) + int tr(dv/dx) dh                                                (1)

    Args:
        score: the score of noised examples at times in [0, 1].
        x: examples.
        schedule: the noise schedule.
        steps: number of Runge-Kutta steps, evenly spaced in the angle h.
        first: the time at which examples enter: 0 for a score that is finite there, about 1 / T for a network, which
            has not seen less noise.
        trace: `ExactTrace()` by default, or `Hutchinson(k)`.

    Hypotheses: see the module. Reference: [song2021score].
    Cost: 4 x ``steps`` scores with their divergence.

    >>> from gnomon.data import gaussian_mixture
    >>> from gnomon.generative.diffusion import ExactDenoiser, cosine_schedule
    >>> p, plan = gaussian_mixture([[1.0]], std=0.5), cosine_schedule(100)
    >>> network, x = ExactDenoiser(p, plan), torch.zeros(1, 1).double()
    >>> bool((flow_log_prob(network.score, x, plan) - p.log_prob(x)).abs() < 1e-3)
    True
    """
    rule = ExactTrace() if trace is None else trace
    x = finite_points(x, "x")
    directions = rule.directions(x)

    def moving(x: Tensor, angle: float) -> tuple[Tensor, Tensor]:
        time = _time(schedule, angle, x)
        return rule(lambda y: -tan(angle) * (y + _score(score, y, time)), x, directions)

    low, high = _ends(schedule, first)
    z, area = transport_checked(moving, x, low, high, steps)
    return standard_normal(z) + area  # (1)


@add_call_to_errors
def flow_samples(
    score: Score, noise: Tensor, schedule: NoiseSchedule, *, steps: int = 100, first: float = 0.0
) -> Tensor:
    """Maps noise to examples by running the deterministic (probability-flow) equation of a diffusion model backward.

    Cost: 4 x ``steps`` scores.

    >>> from gnomon.generative.diffusion import cosine_schedule
    >>> z = torch.randn(5, 2)
    >>> torch.allclose(flow_samples(lambda x, t: -x, z, cosine_schedule(100)), z)          # N(0, I) stays where it is
    True
    """
    noise = finite_points(noise, "noise")
    none = noise.new_zeros(len(noise))

    def moving(x: Tensor, angle: float) -> tuple[Tensor, Tensor]:
        return -tan(angle) * (x + _score(score, x, _time(schedule, angle, x))), none

    low, high = _ends(schedule, first)
    return transport_checked(moving, noise, high, low, steps)[0]


def _score(score: Score, x: Tensor, time: Tensor) -> Tensor:
    value = score(x, time)
    check_vectors(value, x, what="the score")
    return value


def _ends(schedule: NoiseSchedule, first: float) -> tuple[float, float]:
    first = check_number("first", first, above=-1e-300, below=1)
    low, high = schedule.kept_at([first, 1.0]).sqrt().clamp(max=1).acos().tolist()
    return low, high


def _time(schedule: NoiseSchedule, angle: float, x: Tensor) -> Tensor:
    time = schedule.time_at(cos(angle) ** 2).clamp(0, 1)
    return torch.full((len(x),), float(time), dtype=x.dtype, device=x.device)
