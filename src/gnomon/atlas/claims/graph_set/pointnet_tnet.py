"""The alignment matrix that a T-net computes for a point cloud does not depend on the order of the points.

    A(P X) = A(X)                                                                                             (1)

A(X) is the matrix for the cloud X, P a permutation. Reference: [qi2017pointnet].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models.sets import TNet


def predicted():
    """Returns 0, the change of the alignment matrix if the points are reordered."""
    return 0.0


def largest_change(place, points, seed):
    """Returns the largest change of the alignment matrix if the points are reversed; ``place`` adds positions."""
    torch.manual_seed(seed)
    net, x = TNet(3).double(), torch.randn(2, points, 3).double()
    torch.nn.init.normal_(net.out.weight)
    number = place * torch.linspace(-1, 1, points).double()[:, None]
    return float((net(x + number) - net(x.flip(1) + number)).abs().max().detach())


observed = partial(largest_change, place=0.0)  # A point consists of its coordinates only.
control = partial(largest_change, place=1.0)  # Control: a point also contains its place in the list, so order matters.

CLAIM = Claim(
    id="pointnet-tnet",
    question="Does the learned alignment of a point cloud depend on the order of its points?",
    equation=r"A(P X) = A(X)",
    axes=("one cloud", "largest difference of the matrix"),
    source=Source("theorem", "qi2017pointnet"),
    premises=(Premise("the matrix is computed from pooled features"),),
    parameters={"points": 20},
    judge=equals(within=1e-12, because="rounding of products"),
)
