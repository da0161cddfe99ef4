"""If a CNN uses its kernels in all quarter turns, turning the image does not change its pooled features.

    f(r x) = f(x)  for quarter turns r,  after a mean over places and turns of the kernels                         (1)

f is the network, x the image, r a quarter turn. A plain convolutional network does not have this property.
Reference: [cohen2016group].
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry import GroupConv2d, GroupPool, cyclic, equivariance, quarter_turns


def change(first, seed):
    """Returns the relative change of pooled features under quarter turns, with ``first`` as the first layer."""
    x = torch.randn(6, 1, 9, 9, generator=torch.Generator().manual_seed(seed)).double()
    net = nn.Sequential(*first, nn.AdaptiveAvgPool2d(1), nn.Flatten()).double()
    return equivariance(net, x, quarter_turns()).output.invariance


def predicted():
    """Returns 0, the change of the pooled features under quarter turns."""
    return 0.0


def observed(seed):
    """Returns the change for a convolution with kernels in all quarter turns, averaged over the turns."""
    torch.manual_seed(seed)
    layer = GroupConv2d(1, 4, 3, group=cyclic(4), lifting=True, padding=1, bias=False)
    return change([layer, nn.ReLU(), GroupPool(group=cyclic(4))], seed)


def control(seed):
    """Returns the change for a plain convolution, whose kernels have one orientation."""
    torch.manual_seed(seed)
    return change([nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.ReLU()], seed)


CLAIM = Claim(
    id="cnn-not-rotation-equivariant",
    question="Do convolutional networks recognize rotated images?",
    equation=r"f(r x) = f(x)",
    axes=("one network", "relative change under quarter turns"),
    source=Source("theorem", "cohen2016group"),
    premises=(Premise("the kernels come in all quarter turns"),),
    judge=equals(within=1e-12, because="rounding of a few hundred products of numbers of size 1"),
)
