"""A convolution of stride 2 with a pair of wavelet filters is one level of a wavelet transform.

    y[n, 0] = sum_t x[2 n + t] h[t],    y[n, 1] = sum_t x[2 n + t] g[t],    g[t] = (-1)^t h[3 - t]              (1)

For Daubechies' four weights the rows of (1) are an orthogonal matrix, so that a transposed layer gives the input back.

Reference: [mallat2009wavelet], Section 7.3.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals

H = np.array([1 + 3**0.5, 3 + 3**0.5, 3 - 3**0.5, 1 - 3**0.5]) / (4 * 2**0.5)


def inputs(size, seed):
    """A signal."""
    return np.random.default_rng(seed).normal(size=size)


def predicted(size, seed):
    """Inner products with the shifted filters, and the signal itself, which the transposed layer must return."""
    x = inputs(size, seed)
    rows = np.zeros((2, size // 2, size))
    for n in range(size // 2):
        for t in range(4):
            rows[0, n, (2 * n + t) % size] += H[t]
            rows[1, n, (2 * n + t) % size] += (-1) ** t * H[3 - t]
    return np.concatenate([*(rows @ x), x])


def layers(size, seed, g):
    """torch's convolution of stride 2 on a circle, and the transposed one of its outputs."""
    x = torch.from_numpy(inputs(size, seed))[None, None]
    weight = torch.from_numpy(np.stack([H, g]))[:, None]
    y = functional.conv1d(functional.pad(x, (0, 2), mode="circular"), weight, stride=2)
    back = functional.conv_transpose1d(y, weight, stride=2)[0, 0]
    back[:2] += back[size:]
    return torch.cat([*y[0], back[:size]])


observed = partial(layers, g=np.array([1, -1, 1, -1]) * H[::-1])  # Daubechies' pair.
control = partial(layers, g=np.array([1, -1, 0, 0]) / 2**0.5)  # The second filter of Haar instead.

CLAIM = Claim(
    id="conv-downsampling-filterbank",
    title="A convolution of stride 2 with wavelet filters is a wavelet transform, and its transpose undoes it",
    equation=r"y[n, \lambda'] = \sum_\lambda (x[\cdot, \lambda] \star k_{\lambda', \lambda})[2n]",
    source=Source("theorem", "mallat2009wavelet", "Section 7.3"),
    premises=(Premise("the two filters are a conjugate mirror pair"),),
    parameters={"size": 64},
    judge=equals(rounding=1000),
    remark="A network sums over input channels with free weights; a wavelet cascade goes on from the average alone.",
)
