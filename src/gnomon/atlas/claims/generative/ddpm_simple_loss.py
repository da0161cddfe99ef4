"""A noise-predicting network's loss is at least the variance of the noise, given the noised example.

    E |e - e_predicted|^2 >= E Var(e | x_k) = d - (1 - a_k) E |grad log q_k|^2,    reached by the exact network  (1)

e is the noise in d coordinates, x_k the noised example with density q_k, and a_k the share of the example's variance.
"""

from functools import partial

import torch

from gnomon.data import ring_of_gaussians
from gnomon.generative import Diffusion
from gnomon.generative.diffusion.exact import ExactDenoiser
from gnomon.generative.diffusion.schedule import cosine_schedule
from gnomon.lab import Claim, Premise, Source, mean_equals


def problem(steps):
    """Returns a mixture of eight Gaussians on a circle, and a noise schedule."""
    return ring_of_gaussians(8, radius=1.2, std=0.2), cosine_schedule(steps)


def predicted(steps):
    """Returns the mean variance of the noise given the noised example, by integration on a grid."""
    p, schedule = problem(steps)
    axis = torch.linspace(-5, 5, 141, dtype=torch.float64)
    grid, cell, total = torch.cartesian_prod(axis, axis), float(axis[1] - axis[0]) ** 2, 0.0
    for beta in (1 - schedule.betas).cumprod(0).tolist():
        q = p.noised(beta**0.5, (1 - beta) ** 0.5)
        total += 2 - (1 - beta) * cell * float(q.log_prob(grid).exp() @ q.score(grid).square().sum(1))
    return total / steps


def losses(steps, n, seed, size):
    """Returns the losses of a model that predicts ``size`` times the mean of the noise given the noisy example."""
    p, schedule = problem(steps)

    class ScaledNetwork(ExactDenoiser):
        def forward(self, x, t):
            return size * super().forward(x, t)

    model = Diffusion(ScaledNetwork(p, schedule, "noise"), schedule, shape=(2,), target="noise")
    torch.manual_seed(seed)
    return model.losses(p.sample(n, seed=seed))


observed = partial(losses, size=1.0)  # The test's network predicts the mean of the noise, the best answer.
control = partial(losses, size=0.5)  # Control: the network predicts half of the mean, so its loss is larger.

CLAIM = Claim(
    id="ddpm-simple-loss",
    question="What is the smallest loss a noise-predicting network can reach?",
    equation=r"\frac1T\sum_t E\|\epsilon - \epsilon_\theta\|^2 \ge \frac1T\sum_t E\,\mathrm{Var}(\epsilon|x_t)",
    axes=("one model", "mean squared error of the predicted noise"),
    source=Source("derived", "ho2020denoising", "equation 14"),
    premises=(
        Premise("the network predicts the mean of the noise"),
        Premise("the examples come from a mixture of Gaussians"),
    ),
    parameters={"steps": 10, "n": 6000},
    full={"steps": 100, "n": 200_000},
    judge=mean_equals(confidence=0.999, resolution=0.2),
)
