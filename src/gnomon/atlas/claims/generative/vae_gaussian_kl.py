"""The KL divergence of any Gaussian from the standard normal distribution has a closed form.

    KL(N(m, C) | N(0, I)) = (|m|^2 + tr C - log det C - d) / 2     (1)

m is the mean, C the covariance and d the dimension. A rotation to the eigenvectors of C changes neither side, so a
diagonal covariance is enough for (1); the measurement integrates in two dimensions with correlations.
"""

from functools import partial

import numpy as np
import torch

from gnomon.generative.vae import gaussian_kl
from gnomon.lab import Claim, Premise, Source, equals


def problem(seed):
    """Returns means and covariances of three Gaussians in the plane, with variances from 0.3 to 2."""
    rng = np.random.default_rng(seed)
    turns = np.linalg.qr(rng.normal(size=(3, 2, 2)))[0]
    return rng.normal(size=(3, 2)), turns * rng.uniform(0.3, 2, (3, 1, 2)) @ turns.swapaxes(1, 2)


def predicted(seed):
    """Returns the KL divergence of each Gaussian in closed form, in the coordinates of its eigenvectors."""
    mean, covariance = (torch.from_numpy(a) for a in problem(seed))
    values, vectors = torch.linalg.eigh(covariance)
    return gaussian_kl((mean[:, None] @ vectors)[:, 0], values.log()).sum(1)


def integrals(seed, std):
    """Returns the KL divergence of each Gaussian q from N(0, std^2 I) by integration over the plane."""
    from scipy.stats import multivariate_normal  # slow to import

    axis = np.linspace(-14, 14, 561)
    grid, cell = np.stack(np.meshgrid(axis, axis), -1), (axis[1] - axis[0]) ** 2
    gaussians = [multivariate_normal(m, c) for m, c in zip(*problem(seed), strict=True)]
    p = multivariate_normal(np.zeros(2), std**2).logpdf(grid)
    return [float((q.pdf(grid) * (q.logpdf(grid) - p)).sum() * cell) for q in gaussians]


observed = partial(integrals, std=1.0)  # The second Gaussian is the standard normal N(0, I).
control = partial(integrals, std=1.1)  # Control: the second Gaussian has variance 1.21 instead of 1.

CLAIM = Claim(
    id="vae-gaussian-kl",
    question="What is the KL divergence from a Gaussian to the standard normal?",
    equation=r"KL(N(\mu,\Sigma)\|N(0,I)) = \tfrac12(\|\mu\|^2 + \mathrm{tr}\Sigma - \log\det\Sigma - m)",
    axes=("random Gaussian", "KL divergence (nats)"),
    source=Source("theorem", "kingma2014auto", "Appendix B"),
    premises=(Premise("the second Gaussian is N(0, I)"), Premise("both are Gaussian")),
    judge=equals(rounding=1e6),  # tolerance 1,000,000 x machine precision: a sum of 300,000 terms
)
