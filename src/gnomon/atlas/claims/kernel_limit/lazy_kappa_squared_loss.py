"""For the squared loss, the laziness number kappa does not depend on the units of outputs and labels.

L = |f - y|^2 / 2 and |grad L| <= |D f| |f - y| give L / |grad L| >= |f - y| / (2 |D f|). For this loss kappa is
defined with twice this length, so it is without the factor 1/2:

    kappa = |f - y| |D^2 f| / |D f|^2                                                                        (1)

Multiplying f and the labels y by c multiplies all three factors by c. The model f = a b x at x = 1 has |D f|^2 = a^2 +
b^2 and |D^2 f| = 1, so kappa = |a b - y| / (a^2 + b^2) in all units. Reference: [chizat2019lazy], equation 4.
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.tangent import laziness_criterion


class Product(nn.Module):
    """The model f(x) = c a b x with parameters a and b, in units c."""

    def __init__(self, a, b, c):
        super().__init__()
        self.a, self.b, self.c = nn.Parameter(a), nn.Parameter(b), c

    def forward(self, x):
        """Maps inputs (n, 1) to outputs (n, 1)."""
        return self.c * self.a * self.b * x


def inputs(seed):
    """Returns two random parameters a and b of the model, and the label."""
    return torch.randn(3, generator=torch.Generator().manual_seed(seed)).double() + torch.tensor([1.0, 1.0, 4.0])


def predicted(units, seed):
    """Returns the laziness number kappa, which is the same in all units."""
    a, b, y = inputs(seed)
    return torch.stack([abs(a * b - y) / (a**2 + b**2)] * len(units))


def kappa_in_units(units, seed, labels):
    """Returns gnomon's laziness number kappa for the model in each unit; ``labels`` scales labels as well."""
    a, b, y = inputs(seed)
    one, kappa = torch.ones(1, 1).double(), partial(laziness_criterion, starts=1, iterations=30)
    targets = [y * one * (c if labels else 1) for c in units]
    return [kappa(Product(a.clone(), b.clone(), c), (one, t)).squared for c, t in zip(units, targets, strict=True)]


observed = partial(kappa_in_units, labels=True)  # Outputs and labels change their units together.
control = partial(kappa_in_units, labels=False)  # Control: only the output changes its units, not the labels.

CLAIM = Claim(
    id="lazy-kappa-squared-loss",
    question="Does laziness depend on the units of the output?",
    equation=r"\kappa = \|f - y\| \, \|D^2 f\| / \|D f\|^2",
    axes=("unit of the output (factor)", "laziness number kappa", "units"),
    source=Source("theorem", "chizat2019lazy", "equation 4"),
    premises=(Premise("labels have the units of the output"),),
    parameters={"units": (0.1, 1.0, 7.0)},
    full={"units": (0.01, 0.1, 1.0, 10.0, 100.0)},
    judge=equals(within=1e-5, because="the power iterations stop at relative changes of 1e-6"),
    remark="Some slides print the first power of |D f|, which would depend on the units.",
)
