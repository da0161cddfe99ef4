"""A convolutional layer sums the convolutions of all its input channels; torch.nn computes correlations.

    y[c, i, j] = sum over r, k, l of w[c, r, k, l] x[r, i - k, j - l]  =  conv2d(x, w flipped)                (1)

Reference: [lecun1998gradient].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def inputs(channels, side, kernel, seed):
    """An image and a kernel."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(channels, side, side)), rng.normal(size=(channels + 1, channels, kernel, kernel))


def predicted(channels, side, kernel, seed):
    """Equation (1), where all its terms exist."""
    x, w = inputs(channels, side, kernel, seed)
    out = side - kernel + 1
    y = np.zeros((channels + 1, out, out))
    for c, i, j in np.ndindex(*y.shape):
        for r, k, m in np.ndindex(channels, kernel, kernel):
            y[c, i, j] += w[c, r, k, m] * x[r, i + kernel - 1 - k, j + kernel - 1 - m]
    return y


def layer(turned, channels, side, kernel, seed):
    """By torch."""
    x, w = (torch.from_numpy(a) for a in inputs(channels, side, kernel, seed))
    return torch.nn.functional.conv2d(x[None], w.flip(2, 3) if turned else w)[0].numpy()


observed = partial(layer, turned=True)  # Turned.
control = partial(layer, turned=False)  # As it is.

CLAIM = Claim(
    id="cnn-layer",
    title="A layer of torch.nn is a convolution with kernels that are turned by half a turn",
    equation=r"y_{c i j} = \sum_{r k l} w_{c r k l}\, x_{r,\, i - k,\, j - l}",
    source=Source("derived"),
    premises=(Premise("the kernel of torch.nn is turned by half a turn"),),
    parameters={"channels": 2, "side": 6, "kernel": 3},
    judge=equals(rounding=100),
)
