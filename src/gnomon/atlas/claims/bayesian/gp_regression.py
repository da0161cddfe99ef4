"""The 95 % intervals of Gaussian process regression contain 95 % of the true values, if its kernel is right.

    f(x) | y ~ N(k^T (K + s^2)^-1 y,  k(x, x) - k^T (K + s^2)^-1 k)     (1)

K is the kernel matrix of the data, k the kernel between x and the data, y the targets, and s^2 the noise variance.
"""

from functools import partial

import torch

from gnomon.dynamics.posterior import gp_posterior
from gnomon.lab import Claim, Premise, Source, mean_equals

NOISE_STD = 0.3


def predicted():
    """Returns the probability of a value within two standard deviations, and 1, the mean squared z-score."""
    return [0.9544997361036416, 1.0]


def scores(functions, n, gamma, seed):
    """Returns for each function whether a new value is within two standard deviations, and its squared z-score."""
    generator = torch.Generator().manual_seed(seed)
    rows = []
    for _ in range(functions):
        x = 4 * torch.rand(n + 1, generator=generator, dtype=torch.float64)
        r = (x[:, None] - x).square()
        values, vectors = torch.linalg.eigh((-2 * r).exp())
        f = vectors @ (values.clamp(min=0).sqrt() * torch.randn(n + 1, generator=generator, dtype=torch.float64))
        y = f[:n] + NOISE_STD * torch.randn(n, generator=generator, dtype=torch.float64)
        k = (-gamma * r).exp()
        law = gp_posterior(k[:n, :n], y, nngp_test=k[n:, :n], nngp_test_test=k[n:, n:], noise=NOISE_STD**2)
        score = float((f[n] - law.mean.flatten()[0]) / law.variance[0].sqrt())
        rows.append([float(abs(score) < 2), score**2])
    return rows


observed = partial(scores, gamma=2.0)  # The true kernel.
control = partial(scores, gamma=0.1)  # Control: the model's kernel expects much smoother functions than the data.

CLAIM = Claim(
    id="gp-regression",
    question="Are the error bars of Gaussian process regression right?",
    equation=r"f(x)|y \sim \mathcal N\big(k^\top (K+\sigma^2)^{-1}y,\; k(x,x) - k^\top (K+\sigma^2)^{-1}k\big)",
    axes=("coverage, then mean squared score", "share within two deviations; squared z-score"),
    source=Source("theorem", "rasmussen2006gaussian", "equations 2.25 and 2.26"),
    premises=(Premise("the kernel is the one that generated the data"),),
    parameters={"functions": 500, "n": 12},
    full={"functions": 5000},
    judge=mean_equals(confidence=0.999, resolution=0.3),
)
