"""The KL divergence of a Gaussian from the standard normal has a closed form.

    KL(N(m, C) | N(0, I)) = (|m|^2 + tr C - log det C - d) / 2     (1)

m is the mean, C the covariance and d the dimension.
"""

from functools import partial

import numpy as np
import torch

from gnomon.generative.vae import gaussian_kl
from gnomon.lab import Claim, Premise, Source, equals


def problem(seed):
    """Means and log variances of three Gaussians."""
    return torch.randn(2, 3, 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def predicted(seed):
    """The formula, for each Gaussian."""
    return gaussian_kl(*problem(seed))[:, 0]


def integrals(seed, std):
    """The integral of q log(q / p) by quadrature."""
    from scipy.stats import norm

    mean, log_variance = problem(seed)[..., 0].numpy()
    x = np.linspace(-40, 40, 40_001)
    q = [norm(m, np.exp(v / 2)) for m, v in zip(mean, log_variance, strict=True)]
    return [float((one.pdf(x) * (one.logpdf(x) - norm(0, std).logpdf(x))).sum() * (x[1] - x[0])) for one in q]


observed = partial(integrals, std=1.0)  # Against N(0, 1).
control = partial(integrals, std=1.1)  # Against N(0, 1.1^2).

CLAIM = Claim(
    id="vae-gaussian-kl",
    question="What is the KL divergence from a Gaussian to the standard normal?",
    equation=r"KL(N(\mu,\Sigma)\|N(0,I)) = \tfrac12(\|\mu\|^2 + \mathrm{tr}\Sigma - \log\det\Sigma - m)",
    axes=("random Gaussian", "KL divergence (nats)"),
    source=Source("theorem", "kingma2014auto", "Appendix B"),
    premises=(Premise("the second Gaussian is N(0, 1)"), Premise("both are Gaussian")),
    judge=equals(rounding=1e5),  # a sum of 40,000 terms
)
