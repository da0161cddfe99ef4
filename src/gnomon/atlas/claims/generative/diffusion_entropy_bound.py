"""While the data's entropy grows, a diffusion model's reverse step has at most the forward step's entropy.

    H(x_{k-1} | x_k) = H(x_k | x_{k-1}) + H(x_{k-1}) - H(x_k) <= H(x_k | x_{k-1})    where H(x_k) >= H(x_{k-1})  (1)

H is the entropy and x_k the example after k noising steps. The inequality needs H(x_k) >= H(x_{k-1}).
"""

from functools import partial
from math import log, pi

import torch

from gnomon.data import gaussian_mixture
from gnomon.generative.diffusion.schedule import linear_schedule
from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(steps):
    """Returns the noise variances of the diffusion steps."""
    return linear_schedule(steps, first=0.01, last=0.5).betas


def predicted(steps):
    """Returns the entropy of each forward step, log(2 pi e beta) / 2."""
    return (torch.log(2 * torch.pi * torch.e * problem(steps)) / 2)[1:]


def backward(steps, std, grid):
    """Returns the entropy of each reverse step by Bayes' rule, for data of two Gaussians of width ``std``."""
    p, kept, entropies = gaussian_mixture([[-0.8], [0.8]], std=std), 1.0, []
    for beta in problem(steps).tolist():
        now, after = (p.noised(a**0.5, (1 - a) ** 0.5) for a in (kept, kept * (1 - beta)))
        x = torch.linspace(-4, 4, grid, dtype=torch.float64) * (std + 1)
        e = torch.linspace(-8, 8, 201, dtype=torch.float64)
        y = (1 - beta) ** 0.5 * x[:, None] + beta**0.5 * e  # x_k for each x_{k-1} (rows) and each noise (columns)
        gauss = -(e**2) / 2 - log(2 * pi) / 2
        before = now.log_prob(x[:, None])[:, None]
        weight = (before + gauss).exp() * (x[1] - x[0]) * (e[1] - e[0])
        back = before + gauss - log(beta) / 2 - after.log_prob(y.reshape(-1, 1)).reshape(y.shape)
        entropies.append(-float((weight * back).sum()))
        kept *= 1 - beta
    return torch.tensor(entropies[1:], dtype=torch.float64)


observed = partial(backward, std=0.3)  # Narrow Gaussians.
control = partial(backward, std=2.0)  # Control: the data are wider than the final noise, so their entropy falls.

CLAIM = Claim(
    id="diffusion-entropy-bound",
    question="Is a reverse step more uncertain than a forward step?",
    equation=r"H(x_{t-1}|x_t) \le H(x_t|x_{t-1}) \text{ where } H(x_t) \ge H(x_{t-1})",
    axes=("noising step", "entropy (nats)"),
    source=Source("theorem", "sohl2015deep", "Section 2.6"),
    premises=(Premise("the entropy of the data is below the entropy of N(0, 1)"),),
    parameters={"steps": 12, "grid": 401},
    full={"steps": 100},
    judge=bounded_by("above"),
)
