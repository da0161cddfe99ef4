"""Correlation with a kernel is convolution with the flipped kernel; this is what convolutional layers compute.

    (f . h)[u] = sum_t f[u + t] h[t] = (f * h-)[u],    h-[t] = h[-t]                                          (1)

Reference: [lecun1998gradient], Section II.
"""

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def inputs(n, m, seed):
    """A signal and a kernel."""
    return np.random.default_rng(seed).normal(size=n), np.random.default_rng(seed + 1).normal(size=m)


def predicted(n, m, seed):
    """The convolution with the flipped kernel, where the kernel is inside the signal."""
    f, h = inputs(n, m, seed)
    return np.convolve(f, h[::-1], "valid")


def observed(n, m, seed):
    """A convolutional layer of torch."""
    f, h = (torch.from_numpy(x)[None, None] for x in inputs(n, m, seed))
    layer = nn.Conv1d(1, 1, m, bias=False).double()
    layer.weight.data = h
    return layer(f)[0, 0].detach()


def control(n, m, seed):
    """The sum of f[t] h[u + t], which flips the signal instead."""
    f, h = inputs(n, m, seed)
    return [sum(f[t] * h[u + t] for t in range(n) if 0 <= u + t < m) for u in range(-(n - m), 1)]


CLAIM = Claim(
    id="cross-correlation",
    title="A convolutional layer correlates: it convolves with the flipped kernel",
    equation=r"(f \star h)[u] = \sum_t f[u + t] h[t] = (f * \bar h)[u]",
    source=Source("theorem", "lecun1998gradient", "Section II"),
    premises=(Premise("the kernel stays and the signal is shifted, not the other way round"),),
    parameters={"n": 40, "m": 7},
    judge=equals(rounding=1000),
    remark="Sometimes printed as the sum of f[t] h[u + t]; that flips f instead of h, and is the control.",
)
