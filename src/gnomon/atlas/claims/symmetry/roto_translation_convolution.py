"""A convolution over translations and quarter turns commutes with both kinds of motion.

    (Y * Psi)(u, g) = sum_{u', h} Y(u', h) Psi(g^{-1}(u' - u), g^{-1} h),    (r Y) * Psi = r (Y * Psi)           (1)

Y are features over positions u and turns g, Psi is the kernel, r a quarter turn. Reference: [cohen2016group].
"""

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry import GroupConv2d, cyclic


def settings(side, seed):
    """Returns a group convolution layer, and features of an image over positions and turns."""
    torch.manual_seed(seed)
    layer = GroupConv2d(2, 3, 3, group=cyclic(4), padding=1, bias=False).double()
    return layer, torch.randn(1, 8, side, side, dtype=torch.float64)


def rotate_features(x):
    """Returns features rotated by 90 degrees: positions rotate, and the features of turn g move to turn g + 1."""
    n, channels, side, _ = x.shape
    return x.rot90(1, (2, 3)).reshape(n, channels // 4, 4, side, side).roll(1, 2).reshape(x.shape)


def predicted():
    """Returns 0, the difference between convolving before and after a motion of the input."""
    return 0.0


def observed(side, seed):
    """Returns the largest difference between the output of the rotated input and the rotated output."""
    layer, x = settings(side, seed)
    return float((layer(rotate_features(x)) - rotate_features(layer(x))).detach().abs().max())


def control(side, seed):
    """Returns the difference for a plain convolution with the same number of channels."""
    _, x = settings(side, seed)
    layer = torch.nn.Conv2d(8, 12, 3, padding=1, bias=False).double()
    return float((layer(rotate_features(x)) - rotate_features(layer(x))).detach().abs().max())


CLAIM = Claim(
    id="roto-translation-convolution",
    question="Which convolution commutes with rotations?",
    equation=r"(L_r Y) \circledast \Psi = L_r (Y \circledast \Psi)",
    axes=("one image", "largest difference"),
    source=Source("theorem", "cohen2016group"),
    premises=(Premise("the kernels come in all positions of the group"),),
    parameters={"side": 9},
    judge=equals(within=1e-13, because="sums of 72 products of numbers of size 1"),
)
