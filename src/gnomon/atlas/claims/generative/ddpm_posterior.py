"""Given the example, a diffusion model's reverse step is Gaussian, with less variance than the forward step.

    q(x_{k-1} | x_k, x_0) = N(m, b),    b = beta_k (1 - a_{k-1}) / (1 - a_k) <= beta_k     (1)

m is the mean, b the variance, beta_k the noise variance of step k, and a_k the product of all 1 - beta_j up to k.
"""

from functools import partial

import numpy as np
import torch

from gnomon.generative.diffusion.schedule import linear_schedule
from gnomon.lab import Claim, Premise, Source, equals


def problem(steps):
    """Returns a noise schedule, an example and a noised value."""
    return linear_schedule(steps), 0.7, -0.4


def predicted(steps):
    """Returns mean and variance of the reverse step given the example, for every step after the first."""
    schedule, x0, xk = problem(steps)
    ends = torch.tensor(x0).double(), torch.tensor(xk).double()
    return [[float(schedule.posterior_mean(k, *ends)), float(schedule.posterior_variance[k - 1])]
            for k in range(2, steps + 1)]  # fmt: skip


def moments(steps, factor):
    """Returns mean and variance of the reverse step by Bayes' rule on a grid; ``factor`` scales the noise variance."""
    schedule, x0, xk = problem(steps)
    y, rows = np.linspace(-9, 9, 60_001), []
    for k in range(2, steps + 1):
        beta, before = float(schedule.betas[k - 1]), float(torch.prod(1 - schedule.betas[: k - 1]))
        log = -((y - before**0.5 * x0) ** 2) / (2 * (1 - before))
        log = log - (xk - (1 - beta) ** 0.5 * y) ** 2 / (2 * beta * factor)
        weight = np.exp(log - log.max())
        mean = (weight * y).sum() / weight.sum()
        rows.append([mean, (weight * (y - mean) ** 2).sum() / weight.sum()])
    return rows


observed = partial(moments, factor=1.0)  # The test's noise has the variance of the schedule.
control = partial(moments, factor=1.1)  # Control: the noise is 10 % larger than in the schedule.

CLAIM = Claim(
    id="ddpm-posterior",
    question="What is the distribution of one reverse step, given the example?",
    equation=r"\tilde\beta_t = \frac{1 - \bar\alpha_{t-1}}{1 - \bar\alpha_t}\beta_t \le \beta_t",
    axes=("step (mean, then variance)", "mean; variance"),
    source=Source("theorem", "ho2020denoising", "equations 6 and 7"),
    premises=(Premise("x_k comes from x_{k-1} by the step of the schedule"),),
    parameters={"steps": 10},
    full={"steps": 200},
    judge=equals(within=1e-6, because="a grid of 60,001 points"),
    remark="The variance of the reverse step is taken between b and beta; some notes print the interval reversed.",
)
