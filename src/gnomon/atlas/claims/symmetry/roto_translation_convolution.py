"""A convolution over translations and quarter turns commutes with them: turned images give turned, permuted features.

(Y * Psi)(u, g) = sum_{u', h} Y(u', h) Psi(g^{-1}(u' - u), g^{-1} h),    (r Y) * Psi = r (Y * Psi)           (1)

Reference: [cohen2016group].
"""

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry import GroupConv2d, cyclic

MOVED = "kernels come in all positions of the group"


def settings(side, seed):
    """A layer, and features of an image."""
    torch.manual_seed(seed)
    layer = GroupConv2d(2, 3, 3, group=cyclic(4), padding=1, bias=False).double()
    return layer, torch.randn(1, 8, side, side, dtype=torch.float64)


def turned(x):
    """Features turned by 90 degrees, by hand: places turn, and element g takes the place of g + 1."""
    n, channels, side, _ = x.shape
    return x.rot90(1, (2, 3)).reshape(n, channels // 4, 4, side, side).roll(1, 2).reshape(x.shape)


def predicted(side, seed):
    """The turned output."""
    layer, x = settings(side, seed)
    return turned(layer(x)).detach()


def observed(side, seed):
    """The output of the turned input."""
    layer, x = settings(side, seed)
    return layer(turned(x)).detach()


def control(side, seed):
    """A plain convolution of as many channels."""
    _, x = settings(side, seed)
    return torch.nn.functional.conv2d(turned(x), torch.randn(12, 8, 3, 3, dtype=torch.float64), padding=1)


CLAIM = Claim(
    id="roto-translation-convolution",
    title="A convolution over translations and quarter turns commutes with both",
    equation=r"(L_r Y) \circledast \Psi = L_r (Y \circledast \Psi)",
    source=Source("theorem", "cohen2016group"),
    premises=(Premise(MOVED),),
    breaks=MOVED,
    parameters={"side": 9},
    judge=equals(rounding=500),
    predicted=predicted,
    observed=observed,
    control=control,
)
