"""A convolution over translations and quarter turns commutes with both kinds of motion.

    (Y * Psi)(u, g) = sum_{u', h} Y(u', h) Psi(g^{-1}(u' - u), g^{-1} h),    (r Y) * Psi = r (Y * Psi)           (1)

Y are features over positions u and turns g, Psi is the kernel, r a quarter turn. Reference: [cohen2016group].
"""

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry import GroupConv2d, cyclic


def settings(side, seed):
    """Returns a group convolution layer, and features over positions and turns, with zeros around them."""
    torch.manual_seed(seed)
    layer = GroupConv2d(2, 3, 3, group=cyclic(4), padding=1, bias=False).double()
    return layer, torch.nn.functional.pad(torch.randn(1, 8, side - 4, side - 4, dtype=torch.float64), (2, 2, 2, 2))


def rotate_features(x):
    """Returns features rotated by 90 degrees: positions rotate, and the features of turn g move to turn g + 1."""
    n, channels, side, _ = x.shape
    return x.rot90(1, (2, 3)).reshape(n, channels // 4, 4, side, side).roll(1, 2).reshape(x.shape)


def predicted():
    """Returns 0 twice, the difference between convolving before and after a quarter turn, and a shift."""
    return [0.0, 0.0]


def differences(layer, x):
    """Returns the largest difference between moving the input and moving the output, for a turn and for a shift."""
    motions = rotate_features, lambda y: y.roll((1, -1), (2, 3))
    return [float((layer(move(x)) - move(layer(x))).detach().abs().max()) for move in motions]


def observed(side, seed):
    """Returns the differences for a convolution over translations and quarter turns."""
    return differences(*settings(side, seed))


def control(side, seed):
    """Returns the differences for a plain convolution, which commutes with shifts only."""
    return differences(torch.nn.Conv2d(8, 12, 3, padding=1, bias=False).double(), settings(side, seed)[1])


CLAIM = Claim(
    id="roto-translation-convolution",
    question="Which convolution commutes with rotations?",
    equation=r"(L_r Y) \circledast \Psi = L_r (Y \circledast \Psi)",
    axes=("quarter turn, then shift", "largest difference"),
    source=Source("theorem", "cohen2016group"),
    premises=(Premise("the kernels come in all positions of the group"),),
    parameters={"side": 9},
    judge=equals(within=1e-13, because="sums of 72 products of numbers of size 1"),
)
