"""A stride-2 convolution with a suitable pair of filters is a wavelet transform, inverted by its transpose.

    y[n, 0] = sum_t x[2 n + t] h[t],    y[n, 1] = sum_t x[2 n + t] g[t],    g[t] = (-1)^t h[3 - t]              (1)

x is the signal, h the averaging filter and g the detail filter. For Daubechies' filter of length four the rows of (1)
form an orthogonal matrix, so the transposed layer returns the input. Reference: [mallat2009wavelet], Section 7.3.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals

AVERAGE_FILTER = np.array([1 + 3**0.5, 3 + 3**0.5, 3 - 3**0.5, 1 - 3**0.5]) / (4 * 2**0.5)


def inputs(size, seed):
    """Returns a random signal, the input of the wavelet transform."""
    return np.random.default_rng(seed).normal(size=size)


def predicted(size, seed):
    """Returns inner products of signal and shifted filters, then the signal, which the transposed layer must return."""
    x = inputs(size, seed)
    rows = np.zeros((2, size // 2, size))
    for n in range(size // 2):
        for t in range(4):
            rows[0, n, (2 * n + t) % size] += AVERAGE_FILTER[t]
            rows[1, n, (2 * n + t) % size] += (-1) ** t * AVERAGE_FILTER[3 - t]
    return np.concatenate([*(rows @ x), x])


def layers(size, seed, g):
    """Returns the outputs of torch's stride-2 convolution, then the signal that its transpose recovers."""
    x = torch.from_numpy(inputs(size, seed))[None, None]
    weight = torch.from_numpy(np.stack([AVERAGE_FILTER, g]))[:, None]
    y = functional.conv1d(functional.pad(x, (0, 2), mode="circular"), weight, stride=2)
    back = functional.conv_transpose1d(y, weight, stride=2)[0, 0]
    back[:2] += back[size:]
    return torch.cat([*y[0], back[:size]])


observed = partial(layers, g=np.array([1, -1, 1, -1]) * AVERAGE_FILTER[::-1])  # Daubechies' pair.
control = partial(layers, g=np.array([1, -1, 0, 0]) / 2**0.5)  # Control: Haar's detail filter replaces its average.

CLAIM = Claim(
    id="conv-downsampling-filterbank",
    question="When is a strided convolution a wavelet transform?",
    equation=r"y[n, \lambda'] = \sum_\lambda (x[\cdot, \lambda] \star k_{\lambda', \lambda})[2n]",
    axes=("output (averages, details), then reconstructed signal", "coefficient; sample"),
    source=Source("theorem", "mallat2009wavelet", "Section 7.3"),
    premises=(Premise("the two filters are a conjugate mirror pair"),),
    parameters={"size": 64},
    judge=equals(rounding=1000),
    remark="A network sums over input channels with free weights; a wavelet cascade continues from the average only.",
)
