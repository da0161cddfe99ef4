"""Layer by layer an output sees more of the image: by the kernel times all strides before it.

    r_l = r_{l-1} + (k_l - 1) j_{l-1},    j_l = j_{l-1} s_l,    side_l = floor((side_{l-1} - k_l) / s_l) + 1  (1)

Reference: [lecun1998gradient].
"""

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def predicted(kernels, strides, side):
    """Equation (1): what each layer sees, and the side of its output."""
    reach, jump, rows = 1, 1, []
    for k, s in zip(kernels, strides, strict=True):
        reach, jump, side = reach + (k - 1) * jump, jump * s, (side - k) // s + 1
        rows.append((reach, side))
    return np.array(rows, dtype=float)


def seen(kernels, strides, side):
    """By gradients: how many rows of the image the middle of each output depends on."""
    net, rows = [], []
    for i, (k, s) in enumerate(zip(kernels, strides, strict=True)):
        net += [nn.Conv2d(2**i, 2 ** (i + 1), k, stride=s).double()]
        nn.init.constant_(net[-1].weight, 0.1)
        x = torch.ones(1, 1, side, side).double().requires_grad_()
        y = nn.Sequential(*net)(x)
        middle = y.shape[2] // 2
        (gradient,) = torch.autograd.grad(y[0, 0, middle, middle], x)
        rows.append((int((gradient[0, 0].abs().sum(1) > 0).sum()), y.shape[2]))
    return np.array(rows, dtype=float)


observed = seen  # As they are.


def control(kernels, side):
    """All strides one."""
    return seen(kernels, (1,) * len(kernels), side)


CLAIM = Claim(
    id="cnn-pyramid",
    title="What an output of a convolutional network sees grows by the kernel times the strides before it",
    equation=r"r_\ell = r_{\ell-1} + (k_\ell - 1) \prod_{i < \ell} s_i",
    source=Source("derived"),
    premises=(Premise("every layer has the stride that is counted"),),
    parameters={"kernels": (3, 3, 2, 3), "strides": (1, 2, 2, 1), "side": 40},
    judge=equals(rounding=0),
)
