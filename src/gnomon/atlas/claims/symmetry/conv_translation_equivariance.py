"""Shifting an image before or after a circular convolution gives the same result; with zero padding it does not.

    conv(shift x) = shift conv(x)                                                                                  (1)

x is the image. Reference: [lecun1998gradient].
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def errors(mode, side, seed):
    """Returns the largest difference for each shift."""
    torch.manual_seed(seed)
    conv = nn.Conv2d(2, 3, 3, padding=1, padding_mode=mode).double()
    x = torch.randn(1, 2, side, side).double()
    moves = [(1, 0), (0, 1), (side // 2, 3)]
    return [float((conv(x.roll(m, (2, 3))) - conv(x).roll(m, (2, 3))).detach().abs().max()) for m in moves]


def predicted():
    """Returns 0 for each shift: no difference."""
    return [0.0, 0.0, 0.0]


observed = partial(errors, mode="circular")  # Circular padding.
control = partial(errors, mode="zeros")  # Zeros at the border.

CLAIM = Claim(
    id="conv-translation-equivariance",
    question="Does a convolution commute with shifts?",
    equation=r"\phi(T_\alpha x) = T_\alpha \phi(x)",
    axes=("shift", "largest difference"),
    source=Source("theorem", "lecun1998gradient"),
    premises=(Premise("what leaves on one side enters on the other"),),
    parameters={"side": 9},
    judge=equals(within=1e-13, because="sums of 18 products of numbers of size 1"),
    remark="Often printed with equal rows <w, g x>: the rows are <g_i w, x>, in another order.",
)
