"""One step back is no more uncertain than one step forward while the entropy grows.

H(x_{k-1} | x_k) = H(x_k | x_{k-1}) + H(x_{k-1}) - H(x_k) <= H(x_k | x_{k-1})    where H(x_k) >= H(x_{k-1})     (1)
"""

import torch

from gnomon.data import mixture
from gnomon.generative import linear_schedule
from gnomon.lab import Claim, Premise, Source, bounded_by

GROWS = "the entropy of the data is below that of N(0, 1)"
SHIFT = 10.0
"""Added to all entropies, so that they are positive."""


def problem(steps):
    """Variances of the steps."""
    return linear_schedule(steps, first=0.01, last=0.5).betas


def predicted(steps):
    """The entropy of a step forward, log(2 pi e beta) / 2."""
    return (torch.log(2 * torch.pi * torch.e * problem(steps)) / 2 + SHIFT)[1:]


def backward(steps, std):
    """The entropy of a step back for a mixture of two Gaussians of this width, by quadrature."""
    p, kept, entropies = mixture([[-0.8], [0.8]], std=std), 1.0, []
    x = torch.linspace(-25, 25, 8001, dtype=torch.float64)[:, None]
    for beta in [0.0, *problem(steps).tolist()]:
        kept *= 1 - beta
        log = p.noised(kept**0.5, (1 - kept) ** 0.5).log_prob(x)
        entropies.append(-float((log.exp() * log).sum()) * float(x[1] - x[0]))
    h = torch.tensor(entropies, dtype=torch.float64)
    forward = torch.log(2 * torch.pi * torch.e * problem(steps)) / 2
    return (forward + h[:-1] - h[1:] + SHIFT)[1:]


def observed(steps):
    """Narrow Gaussians."""
    return backward(steps, 0.3)


def control(steps):
    """Gaussians wider than the noise that replaces them."""
    return backward(steps, 2.0)


CLAIM = Claim(
    id="diffusion-entropy-bound",
    title="One step back is no more uncertain than one step forward while the entropy grows",
    equation=r"H(x_{t-1}|x_t) \le H(x_t|x_{t-1}) \text{ where } H(x_t) \ge H(x_{t-1})",
    source=Source("theorem", "sohl2015deep", "equation 12"),
    premises=(Premise(GROWS),),
    breaks=GROWS,
    parameters={"steps": 12},
    full={"steps": 300},
    judge=bounded_by("above", tight=0.95),
    predicted=predicted,
    observed=observed,
    control=control,
)
