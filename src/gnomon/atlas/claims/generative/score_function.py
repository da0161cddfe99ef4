"""The best prediction of a noised example's noise is minus the noise level times the gradient of log density.

    E[e | x] = -sqrt(1 - a) grad log q(x)    =>    E[-sqrt(1 - a) e . s(x)] = (1 - a) E |s(x)|^2     (1)

x = sqrt(a) x_0 + sqrt(1 - a) e is the noised example with density q, e the noise, and s = grad log q the score.
"""

from functools import partial

import torch

from gnomon.data import ring_of_gaussians
from gnomon.lab import Claim, Premise, Source, mean_equals

SIGNAL_SHARE = 0.6


def problem():
    """Returns a mixture of eight Gaussians on a circle."""
    return ring_of_gaussians(8, radius=1.5, std=0.3)


def predicted():
    """Returns the weighted mean square of the score (gradient of log density), by integration on a grid."""
    q = problem().noised(SIGNAL_SHARE**0.5, (1 - SIGNAL_SHARE) ** 0.5)
    axis = torch.linspace(-6, 6, 241, dtype=torch.float64)
    grid = torch.cartesian_prod(axis, axis)
    return (1 - SIGNAL_SHARE) * (q.log_prob(grid).exp() @ q.score(grid).square().sum(1)) * (axis[1] - axis[0]) ** 2


def products(n, seed, clean):
    """Returns minus the noise level times the product of added noise and score, for each noised example."""
    p = problem()
    noise = torch.randn(n, 2, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    x = SIGNAL_SHARE**0.5 * p.sample(n, seed=seed + 1) + (1 - SIGNAL_SHARE) ** 0.5 * noise
    q = p if clean else p.noised(SIGNAL_SHARE**0.5, (1 - SIGNAL_SHARE) ** 0.5)
    return -((1 - SIGNAL_SHARE) ** 0.5) * (noise * q.score(x)).sum(1)


observed = partial(products, clean=False)  # The score (gradient of log density) of noised data predicts the noise.
control = partial(products, clean=True)  # Control: the score of the clean data predicts the noise badly.

CLAIM = Claim(
    id="score-function",
    question="Why does predicting noise learn the score?",
    equation=r"\nabla\log q_t(x) = -E[\epsilon|x]/\sqrt{1 - \bar\alpha_t}",
    axes=("one data distribution", "mean of noise times score"),
    source=Source("theorem", "efron2011tweedie"),
    premises=(Premise("the score belongs to the noised examples"), Premise("the noise is Gaussian")),
    parameters={"n": 5000},
    full={"n": 500_000},
    judge=mean_equals(confidence=0.999, resolution=0.2),
)
