"""The ReLU never increases the distance between two numbers, and relu(c z) = c relu(z) for every c >= 0.

|relu(a) - relu(b)| <= |a - b|  with equality for a, b >= 0,    relu(c z) = c relu(z)  for c >= 0     (1)
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns 1, the largest ratio of distances after and before the ReLU, and 0, the error of pulling out a factor."""
    return [1.0, 0.0]


def ratio_and_defect(pairs, factors):
    """Returns the largest |relu(a) - relu(b)| / |a - b|, and the largest |relu(c z) - c relu(z)|."""
    a, b = torch.randn(2, pairs, dtype=torch.float64)
    c = factors(torch.randn(pairs, dtype=torch.float64))
    ratio = (a.relu() - b.relu()).abs() / (a - b).abs()
    return [float(ratio.max()), float(((c * a).relu() - c * a.relu()).abs().max())]


observed = partial(ratio_and_defect, factors=torch.abs)  # Positive factors.
control = partial(ratio_and_defect, factors=lambda c: c)  # Control: the factors pulled out may also be negative.

CLAIM = Claim(
    id="activation-relu",
    question="What are the two basic properties of the ReLU?",
    equation=r"|\rho(a)-\rho(b)| \le |a-b|, \quad \rho(cz) = c\rho(z)\ (c \ge 0)",
    axes=("largest ratio of distances, then error of homogeneity", "ratio; error"),
    source=Source("derived"),
    premises=(Premise("the factor is not negative"),),
    parameters={"pairs": 10_000},
    full={"pairs": 1_000_000},
    judge=equals(rounding=0),  # tolerance 0: both sides make the same subtraction and product, so they agree exactly
)
