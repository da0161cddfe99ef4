"""The discrete convolution is a sum over the places where both functions live.

    (f * h)[u] = sum_t f[t] h[u - t]                                                                          (1)

Reference: [mallat2009wavelet], Section 3.3.
"""

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals


def inputs(n, m, seed):
    """A signal and a kernel."""
    return np.random.default_rng(seed).normal(size=n), np.random.default_rng(seed + 1).normal(size=m)


def predicted(n, m, seed):
    """Equation (1), term by term, without the terms that lie outside."""
    f, h = inputs(n, m, seed)
    return [sum(f[t] * h[u - t] for t in range(max(0, u - m + 1), min(n, u + 1))) for u in range(n + m - 1)]


def observed(n, m, seed):
    """numpy's convolution."""
    return np.convolve(*inputs(n, m, seed))


def control(n, m, seed):
    """What torch calls a convolution, which does not flip."""
    f, h = (torch.from_numpy(x)[None, None] for x in inputs(n, m, seed))
    return functional.conv1d(f, h, padding=m - 1)[0, 0]


CLAIM = Claim(
    id="discrete-convolution",
    title="The convolution of finite signals is a finite sum with one of them flipped",
    equation=r"(f * h)[u] = \sum_t f[t]\, h[u - t]",
    source=Source("theorem", "mallat2009wavelet", "Section 3.3"),
    premises=(Premise("the kernel is flipped"),),
    parameters={"n": 40, "m": 7},
    full={"n": 500, "m": 50},
    judge=equals(rounding=1000),
)
