"""Random functions of a Gaussian process with kernel exp(-g |x - x'|^2) cross zero sqrt(2 g) / pi times per unit.

    E[crossings] = length * sqrt(-k''(0) / k(0)) / pi = length * sqrt(2 g) / pi     (1)

g is the inverse squared width of the kernel k.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(gamma):
    """Returns the expected number of zero crossings per unit length."""
    return (2 * gamma) ** 0.5 / torch.pi


def crossings(kernel, gamma, points, functions, seed):
    """Returns the number of sign changes per unit length of each function drawn on a fine grid of [0, 4]."""
    x = torch.linspace(0, 4, points, dtype=torch.float64)
    values, vectors = torch.linalg.eigh(kernel((2 * gamma) ** 0.5 * (x[:, None] - x).abs()))
    z = torch.randn(functions, points, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    f = (z * values.clamp(min=0).sqrt()) @ vectors.T
    return (f[:, 1:] * f[:, :-1] < 0).double().sum(1) / 4


observed = partial(crossings, kernel=lambda r: (-(r**2) / 2).exp())  # The kernel is exp(-g |x - x'|^2), g = 1/2.
control = partial(crossings, kernel=lambda r: (-r).exp())  # Control: exp(-|r|), whose functions are rougher.

CLAIM = Claim(
    id="rbf-kernel-gp",
    question="How wiggly are functions drawn with a Gaussian kernel?",
    equation=r"\mathbb E[\text{crossings}] = \sqrt{2\gamma}/\pi",
    axes=("random function", "zero crossings per unit length"),
    source=Source("theorem", "rice1944mathematical"),
    premises=(Premise("the kernel has a second derivative at zero"),),
    parameters={"gamma": 2.0, "points": 200, "functions": 8000},
    grid={"points": (50, 150, 200, 300, 600), "gamma": (0.5, 1.5, 2.0, 3.0, 6.0)},
    full={"points": 500, "functions": 20_000},
    judge=mean_equals(confidence=0.999, resolution=0.05),
)
