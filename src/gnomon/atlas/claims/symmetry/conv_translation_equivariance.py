"""Shifting an image before or after a circular convolution gives the same; with zero padding it does not.

    conv(shift x) = shift conv(x)                                                                                  (1)

x is the image. With stride s, shifts by multiples of s move the outputs by shift / s. Reference: [lecun1998gradient].
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def errors(mode, side, seed):
    """Returns the largest difference between convolving before and after a shift, for each shift."""
    torch.manual_seed(seed)
    conv, coarse = (nn.Conv2d(2, 3, 3, stride=s, padding=1, padding_mode=mode).double() for s in (1, 2))
    x = torch.randn(1, 2, side, side).double()
    moves = [(1, 0), (0, 1), (side // 2, 3)]
    gaps = [conv(x.roll(m, (2, 3))) - conv(x).roll(m, (2, 3)) for m in moves]
    gaps.append(coarse(x.roll((2, 4), (2, 3))) - coarse(x).roll((1, 2), (2, 3)))
    return [float(gap.detach().abs().max()) for gap in gaps]


def predicted():
    """Returns 0, the difference between convolving before and after a shift, for each shift."""
    return [0.0, 0.0, 0.0, 0.0]


observed = partial(errors, mode="circular")  # Circular padding.
control = partial(errors, mode="zeros")  # Control: zero padding replaces periodic padding.

CLAIM = Claim(
    id="conv-translation-equivariance",
    question="Does a convolution commute with shifts?",
    equation=r"\phi(T_\alpha x) = T_\alpha \phi(x)",
    axes=("shift, then a shift with stride 2", "largest difference"),
    source=Source("theorem", "lecun1998gradient"),
    premises=(
        Premise("what leaves on one side enters on the other"),
        Premise("the side is a multiple of the stride, 2", lambda side: side % 2 == 0),
    ),
    grid={"side": (2, 5, 7, 10, 15, 20, 30)},
    parameters={"side": 10},
    judge=equals(within=1e-13, because="sums of 18 products of numbers of size 1"),
    remark="Often printed with equal rows <w, g x>: the rows are <g_i w, x>, in another order.",
)
