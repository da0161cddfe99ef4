"""The eigenvalues of a linear recurrent unit, exp(-exp(nu) + i phi), have absolute value below 1 for all nu, phi.

    |lambda| = exp(-exp(nu)) < 1   for every real nu                                                          (1)
Reference: [orvieto2023resurrecting].
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.models import LinearRecurrentUnit


def predicted(updates):
    """Returns 1, the radius of the unit circle, for each update."""
    return np.ones(updates)


def observed(updates, seed):
    """Returns the largest absolute eigenvalue after each of many random parameter updates."""
    torch.manual_seed(seed)
    layer, found = LinearRecurrentUnit(1, 6, 1), []
    with torch.no_grad():
        for _ in range(updates):
            layer.nu.add_(0.3 * torch.randn(6))
            layer.theta.add_(0.3 * torch.randn(6))
            found.append(float(layer.eigenvalues().abs().max()))
    return np.array(found)


def control(updates, seed):
    """Returns the largest absolute eigenvalue if the eigenvalues are updated directly, so they can exceed 1."""
    rng = np.random.default_rng(seed)
    value = rng.uniform(-0.9, 0.9, 6)
    found = []
    for _ in range(updates):
        value = value + 0.05 * rng.normal(size=6)
        found.append(np.abs(value).max())
    return np.array(found)


CLAIM = Claim(
    id="lru-stable-parametrisation",
    question="How can a recurrence stay stable during training?",
    equation=r"|\lambda| = e^{-e^{\nu}} < 1",
    axes=("update", "largest absolute eigenvalue"),
    source=Source("theorem", "orvieto2023resurrecting"),
    premises=(Premise("eigenvalues are written as exp(-exp(nu) + i phi)"),),
    parameters={"updates": 300},
    judge=bounded_by(),
)
