"""The features of a cloud are maxima over its points, so that at most one point for each feature counts.

    max over all points = max over the critical points,    at most as many as features                        (1)

Reference: [qi2017pointnet].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import PointNet


def predicted():
    """No difference of any feature."""
    return np.zeros(6)


def difference(pool, points, seed):
    """Between features of all points and of the critical ones."""
    torch.manual_seed(seed)
    net, x = PointNet(outputs=2, local=8, features=6).double(), torch.randn(1, points, 3).double()
    with torch.no_grad():
        features, keep = net.features(x)[0], torch.unique(net.critical(x))
        return (pool(features) - pool(features[keep])).numpy()


observed = partial(difference, pool=lambda f: f.amax(0))  # The largest.
control = partial(difference, pool=lambda f: f.mean(0))  # The mean.

CLAIM = Claim(
    id="pointnet",
    title="Points that reach no maximum can be left out of a PointNet",
    equation=r"\max_{m} \psi(x_m) = \max_{m \in C} \psi(x_m), \quad |C| \le K",
    source=Source("theorem", "qi2017pointnet"),
    premises=(Premise("features are maxima over points"),),
    parameters={"points": 40},
    judge=equals(rounding=0),
)
