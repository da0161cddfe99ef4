"""PointNet's features are maxima over points, so points that reach no maximum can be removed without effect.

    max over all points = max over the critical points,    at most as many as features                        (1)

At most one point per feature is critical. Reference: [qi2017pointnet].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import PointNet


def predicted():
    """Returns 0, the difference between features of all points and of the critical points."""
    return np.zeros(6)


def difference(pool, points, seed):
    """Returns the difference between pooled features of all points and of the points that reach a maximum."""
    torch.manual_seed(seed)
    net, x = PointNet(outputs=2, local=8, features=6).double(), torch.randn(1, points, 3).double()
    with torch.no_grad():
        features, keep = net.features(x)[0], torch.unique(net.critical(x))
        return (pool(features) - pool(features[keep])).numpy()


observed = partial(difference, pool=lambda f: f.amax(0))  # Maxima.
control = partial(difference, pool=lambda f: f.mean(0))  # Means.

CLAIM = Claim(
    id="pointnet",
    question="Which points of a cloud matter to a PointNet?",
    equation=r"\max_{m} \psi(x_m) = \max_{m \in C} \psi(x_m), \quad |C| \le K",
    axes=("feature", "difference of the pooled feature"),
    source=Source("theorem", "qi2017pointnet"),
    premises=(Premise("features are maxima over points"),),
    parameters={"points": 40},
    judge=equals(rounding=0),
)
