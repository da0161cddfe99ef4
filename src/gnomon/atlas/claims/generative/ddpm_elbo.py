"""The gap of a diffusion model's likelihood bound falls as 1 / (number of steps), if reverse steps have the best means.

    gap(T) = E log p(x_0) - bound    falls as 1 / T     (1)

x_0 is the data and T the number of steps. The bound is the evidence lower bound (ELBO).
"""

from functools import partial
from math import log, pi

from gnomon.generative.diffusion.schedule import linear_schedule
from gnomon.lab import Claim, Premise, Source, rate_is

DATA_VARIANCE = 0.25
"""The data are N(0, 0.25)."""


def predicted():
    """Returns -1, the exponent of the number of diffusion steps in the gap of the likelihood bound."""
    return -1.0


def gaps(sizes, shrink):
    """Returns the gap of the bound for each number of steps, with the means of reverse steps scaled by ``shrink``."""
    values = []
    for steps in sizes:
        schedule = linear_schedule(steps, first=1e-2 / steps, last=30 / steps)
        kept, total = schedule.kept, 0.0
        for k in range(1, steps + 1):
            a, before, beta = (float(v) for v in (kept[k], kept[k - 1], schedule.betas[k - 1]))
            spread = a * DATA_VARIANCE + 1 - a
            best = a**0.5 * DATA_VARIANCE / spread * shrink
            # `error` is E (x_0 - best x_k)^2; `weight` turns it into the squared error of the step's mean.
            error = DATA_VARIANCE - 2 * best * a**0.5 * DATA_VARIANCE + best**2 * spread
            weight = before * beta**2 / (1 - a) ** 2
            b = beta * (1 - before) / (1 - a)
            constant = log(2 * pi * beta) if k == 1 else b / beta - 1 - log(b / beta)
            total += weight * error / (2 * beta) + constant / 2
        a = float(kept[-1])
        total += a * DATA_VARIANCE / 2 + (-a - log(1 - a)) / 2
        values.append(total - (log(2 * pi * DATA_VARIANCE) + 1) / 2)
    return list(sizes), values


observed = partial(gaps, shrink=1.0)  # The best means.
control = partial(gaps, shrink=0.9)  # Control: the means of the reverse steps are 10 % too small.

CLAIM = Claim(
    id="ddpm-elbo",
    question="How tight is the training bound of a diffusion model?",
    equation=r"\log p(x_0) \ge E\log p(x_0|x_1) - \sum_{t=2}^T KL(q(x_{t-1}|x_t,x_0)\|p_\theta) - KL(q_T\|\pi)",
    axes=("number of steps T", "gap of the bound (nats)"),
    source=Source("derived", "ho2020denoising", "equation 5"),
    premises=(Premise("the reverse steps have the best means"), Premise("the data are Gaussian")),
    parameters={"sizes": (100, 200, 400, 800)},
    full={"sizes": (100, 400, 1600, 6400)},
    judge=rate_is(next_order=-1.0, label="steps"),
    remark="The terms pair q(x_{t-1} | x_t, x_0) with p(x_{t-1} | x_t); other indices, often printed, give no bound.",
)
