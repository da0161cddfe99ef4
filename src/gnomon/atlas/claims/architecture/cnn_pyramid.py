"""In a CNN the receptive field grows in each layer by (kernel size - 1) times the product of all earlier strides.

    r_l = r_{l-1} + (k_l - 1) j_{l-1},    j_l = j_{l-1} s_l,    side_l = floor((side_{l-1} - k_l) / s_l) + 1  (1)

r_l is the side of the receptive field after layer l, k_l the side of its kernel, s_l its stride, j_l the product of the
strides up to layer l, and side_l the side of its output. Reference: [lecun1998gradient].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def predicted(kernels, strides, side):
    """Returns the side of the receptive field and of the output of each layer, from kernel sizes and strides."""
    reach, jump, rows = 1, 1, []
    for k, s in zip(kernels, strides, strict=True):
        reach, jump, side = reach + (k - 1) * jump, jump * s, (side - k) // s + 1
        rows.append((reach, side))
    return np.array(rows, dtype=float)


def receptive_fields(dilation, kernels, strides, side):
    """Returns the measured receptive field of each layer: how many image rows have a gradient at the middle output."""
    net, rows = [], []
    for i, (k, s) in enumerate(zip(kernels, strides, strict=True)):
        net += [nn.Conv2d(2**i, 2 ** (i + 1), k, stride=s, dilation=dilation).double()]
        nn.init.constant_(net[-1].weight, 0.1)
        x = torch.ones(1, 1, side, side).double().requires_grad_()
        y = nn.Sequential(*net)(x)
        middle = y.shape[2] // 2
        (gradient,) = torch.autograd.grad(y[0, 0, middle, middle], x)
        rows.append((int((gradient[0, 0].abs().sum(1) > 0).sum()), y.shape[2]))
    return np.array(rows, dtype=float)


observed = partial(receptive_fields, dilation=1)  # The entries of a kernel meet neighboring pixels.
control = partial(receptive_fields, dilation=2)  # Control: the entries of a kernel meet every second pixel.


CLAIM = Claim(
    id="cnn-pyramid",
    question="How much of the image does one output of a convolutional network see?",
    equation=r"r_\ell = r_{\ell-1} + (k_\ell - 1) \prod_{i < \ell} s_i",
    axes=("layer (receptive field, then side of its output)", "pixels"),
    source=Source("derived"),
    premises=(Premise("kernels have no gaps (no dilation)"),),
    parameters={"kernels": (3, 3, 2, 3), "strides": (1, 2, 2, 1), "side": 40},
    judge=equals(rounding=0),
)
