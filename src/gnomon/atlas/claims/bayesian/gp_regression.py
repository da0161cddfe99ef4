"""The posterior of a Gaussian process covers the truth as often as it says.

f(x) | y ~ N(k^T (K + s^2)^-1 y,  k(x, x) - k^T (K + s^2)^-1 k)     (1)
"""

from functools import partial

import torch

from gnomon.dynamics.posterior import posterior
from gnomon.lab import Claim, Premise, Source, mean_equals

NOISE = 0.3


def predicted():
    """How often the truth is within two standard deviations, and the mean of its squared score; equation (1)."""
    return [0.9544997361036416, 1.0]


def scores(functions, n, gamma, seed):
    """For each of many functions of the kernel exp(-2 r^2): is one new value within two deviations, and its score."""
    generator = torch.Generator().manual_seed(seed)
    rows = []
    for _ in range(functions):
        x = 4 * torch.rand(n + 1, generator=generator, dtype=torch.float64)
        r = (x[:, None] - x).square()
        values, vectors = torch.linalg.eigh((-2 * r).exp())
        f = vectors @ (values.clamp(min=0).sqrt() * torch.randn(n + 1, generator=generator, dtype=torch.float64))
        y = f[:n] + NOISE * torch.randn(n, generator=generator, dtype=torch.float64)
        k = (-gamma * r).exp()
        told = posterior(k[:n, :n], y, nngp_test=k[n:, :n], nngp_test_test=k[n:, n:], noise=NOISE**2)
        score = float((f[n] - told.mean.flatten()[0]) / told.variance[0].sqrt())
        rows.append([float(abs(score) < 2), score**2])
    return rows


observed = partial(scores, gamma=2.0)  # The posterior with the true kernel.
control = partial(scores, gamma=0.1)  # With a kernel that is far too smooth.

CLAIM = Claim(
    id="gp-regression",
    title="The posterior of a Gaussian process covers the truth as often as it says",
    equation=r"f(x)|y \sim \mathcal N\big(k^\top (K+\sigma^2)^{-1}y,\; k(x,x) - k^\top (K+\sigma^2)^{-1}k\big)",
    source=Source("theorem", "rasmussen2006gaussian", "equations 2.25 and 2.26"),
    premises=(Premise("the kernel is that of the process which made the data"),),
    parameters={"functions": 500, "n": 12},
    full={"functions": 5000},
    judge=mean_equals(confidence=0.999, resolution=0.3),
)
