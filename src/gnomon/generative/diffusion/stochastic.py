"""Diffusion as a stochastic differential equation, run forward from examples to noise and backward from noise.

With a(t) the share of the variance that still belongs to the example, and time measured by u = -log a,

    forward     dx = -x / 2 du + dW                                                                        (1)
    backward    dx = (x / 2 + grad log q_u(x)) d(-u) + dW                                                  (2)

(2), started from the distribution at the end of (1), passes through the same distributions in reverse. Steps of (1) are
drawn exactly. Over a step of (2) from u to u - e the score is constant, and the rest is solved exactly:

    x <- r x + 2 (r - 1) grad log q_u(x) + sqrt(r^2 - 1) z,    r = exp(e / 2)                              (3)

with steps evenly spaced in log(a / (1 - a)), so that both ends are resolved. The error is proportional to the step.

Hypotheses: the score is the score of the noised examples; the last distribution is close to N(0, I).
References: [anderson1982reverse] for (2), [song2021score], equations 6 and 11.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number, check_seed
from gnomon.generative.diffusion.flow import Score
from gnomon.generative.diffusion.schedule import NoiseSchedule
from gnomon.generative.vectors import check_vectors, finite_points

__all__ = ["forward_path", "reverse_samples"]

SEED_OFFSET = 1_000_003
"""Offset added to seeds, so that noise along the path does not repeat draws made elsewhere with the same seed."""


@add_call_to_errors
def forward_path(x: Tensor, schedule: NoiseSchedule, *, steps: int = 100, seed: int = 0) -> Float[Tensor, "t n ..."]:
    """Returns paths of examples that turn into noise, at times 0, 1 / steps, ..., 1.

        x(t) = sqrt(a(t) / a(s)) x(s) + sqrt(1 - a(t) / a(s)) z                                            (1)

    Args:
        x: examples.
        schedule: the noise schedule.
        steps: number of steps; the distribution at each time does not depend on it.
        seed: random seed of the noise.

    Hypotheses: none. Reference: [song2021score].
    Cost: one random number for each number and step.

    >>> from gnomon.generative.diffusion import cosine_schedule
    >>> path = forward_path(torch.zeros(2000, 1), cosine_schedule(100), steps=4)
    >>> path.shape, bool((path[2].var() - 0.51).abs() < 0.1)                            # 1 - a(1/2), a little above 1/2
    (torch.Size([5, 2000, 1]), True)
    """
    x, count = finite_points(x, "x"), check_integer("steps", steps)
    generator = torch.Generator().manual_seed(SEED_OFFSET + check_seed(seed))
    kept = schedule.kept_at(torch.linspace(0, 1, count + 1, dtype=torch.float64)).tolist()
    path = [x]
    for before, after in zip(kept, kept[1:], strict=False):
        share = after / before
        path.append(share**0.5 * path[-1] + (1 - share) ** 0.5 * _noise(x, generator))  # (1)
    return torch.stack(path)


@add_call_to_errors
def reverse_samples(
    score: Score, noise: Tensor, schedule: NoiseSchedule, *, steps: int = 200, first: float | None = None, seed: int = 0
) -> Tensor:
    """Maps noise to examples by running the stochastic differential equation of a diffusion model backward.

    See equation (3) of the module docstring.

        x <- r x + 2 (r - 1) grad log q(x) + sqrt(r^2 - 1) z                                               (1)

    Args:
        score: the score of noised examples at times (n,) in [0, 1], such as ``Diffusion.score``.
        noise: standard normal numbers (n, ...).
        schedule: the noise schedule.
        steps: number of steps; the error is proportional to their length.
        first: the end time, by default the first step of the schedule.
        seed: random seed of the noise along the path.

    Hypotheses: see the module. Reference: [song2021score].
    Cost: one score for each step.

    >>> from gnomon.data import gaussian_mixture
    >>> from gnomon.generative.diffusion import ExactDenoiser, cosine_schedule
    >>> p, plan = gaussian_mixture([[3.0]], std=0.5), cosine_schedule(100)
    >>> z = torch.randn(2000, 1, generator=torch.Generator().manual_seed(0)).double()
    >>> x = reverse_samples(ExactDenoiser(p, plan).score, z, plan)
    >>> bool((x.mean() - 3).abs() < 0.06), bool((x.std() - 0.5).abs() < 0.06)
    (True, True)
    """
    x, count = finite_points(noise, "noise"), check_integer("steps", steps)
    start = check_number("first", 1 / len(schedule) if first is None else first, above=0, below=1)
    generator = torch.Generator().manual_seed(SEED_OFFSET + check_seed(seed))
    ends = schedule.kept_at([1.0, start])
    low, high = (ends / (1 - ends)).log().tolist()
    kept = torch.linspace(low, high, count + 1, dtype=torch.float64).sigmoid()
    for a, b in zip(kept.tolist(), kept.tolist()[1:], strict=False):
        time = torch.full((len(x),), float(schedule.time_at(a).clamp(0, 1)), dtype=x.dtype, device=x.device)
        slope = score(x, time)
        check_vectors(slope, x, what="the score")
        r = (b / a) ** 0.5
        x = r * x + 2 * (r - 1) * slope + (r**2 - 1) ** 0.5 * _noise(x, generator)  # (1)
    return x


def _noise(like: Tensor, generator: torch.Generator) -> Tensor:
    return torch.randn(like.shape, generator=generator, dtype=torch.float64).to(like)
