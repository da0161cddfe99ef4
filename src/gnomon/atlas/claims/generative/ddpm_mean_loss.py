"""A diffusion step's KL divergence is a known weight times the squared error of the predicted noise.

    KL(q | p) = |m - m_predicted|^2 / (2 v) + constant = w_k |e - e_predicted|^2 + constant,
    w_k = beta_k^2 / (2 v (1 - beta_k) (1 - a_k))                                                             (1)

q is the true and p the modeled reverse step, m its mean, v its variance, e the noise, beta_k the noise variance of step
k, and a_k the product of all 1 - beta_j up to k.
"""

from functools import partial

import torch
from torch import nn

from gnomon.generative import Diffusion
from gnomon.generative.diffusion.schedule import linear_schedule
from gnomon.lab import Claim, Premise, Source, equals


def problem(steps, seed):
    """Returns a noise schedule, examples, and a network that predicts the noise badly."""
    torch.manual_seed(seed)

    class Wrong(nn.Module):
        def __init__(self):
            super().__init__()
            self.slope = nn.Parameter(torch.tensor(0.3, dtype=torch.float64))  # float64: the default noise is float32

        def forward(self, x, t):
            return self.slope.detach() * x + t[:, None]

    return linear_schedule(steps), torch.randn(4, 2, dtype=torch.float64), Wrong()


def errors(steps, seed, power):
    """Returns the squared errors of the predicted noise times the weights, for the noise that `Diffusion` draws."""
    schedule, x, network = problem(steps, seed)
    generator = torch.Generator().manual_seed(0)
    rows, kept = [], torch.ones(()).double()
    for k, beta in enumerate(schedule.betas, 1):
        kept, before = kept * (1 - beta), kept
        e = torch.randn(4, 2, generator=generator, dtype=torch.float64)
        off = e - network(kept.sqrt() * x + (1 - kept).sqrt() * e, torch.full((4,), k / steps, dtype=torch.float64))
        v = beta**power
        rows.append(beta**2 / (2 * v * (1 - beta) * (1 - kept)) * off.square().sum(1))
        if k > 1:
            ratio = beta * (1 - before) / (1 - kept) / beta
            rows[-1] = rows[-1] + ratio - 1 - ratio.log()
    return torch.stack(rows[1:])


def predicted(steps, seed):
    """Returns the weighted squared error of the predicted noise at each step, for reverse steps of variance beta."""
    return errors(steps, seed, 1)


def observed(steps, seed):
    """Returns the KL divergence of each reverse step except the last, computed by gnomon.generative."""
    schedule, x, network = problem(steps, seed)
    model = Diffusion(network, schedule, shape=(2,), target="noise", variance="forward")
    return model.terms(x)[1:-1]


control = partial(errors, power=1.1)  # Control: the weight of the error uses another noise variance.

CLAIM = Claim(
    id="ddpm-mean-loss",
    question="Why may a diffusion model be trained on the error of the noise?",
    equation=r"\ell_t = \frac{1}{2\sigma_t^2}\|\mu - \mu_\theta\|^2 = \lambda(t)\|\epsilon - \epsilon_\theta\|^2",
    axes=("noising step, for four examples", "KL divergence (nats)"),
    source=Source("theorem", "ho2020denoising", "equation 12"),
    premises=(Premise("the weight uses the variance of the reverse step"), Premise("each reverse step is a Gaussian")),
    parameters={"steps": 20},
    full={"steps": 1000},
    covers=("ddpm-lambda-weight",),
    judge=equals(rounding=1e6),  # tolerance: the means of the first steps differ only in their last digits
    remark="The loss is minimized; notes that print a minus sign mean the term of the bound.",
)
