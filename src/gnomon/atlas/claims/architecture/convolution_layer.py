"""What torch calls a convolution does not flip the kernel; the convolution of analysis does, with one channel or many.

    y[c, i, j] = sum over r, k, l of w[c, r, k, l] x[r, i - k, j - l]  =  conv2d(x, w flipped)                (1)

Reference: [lecun1998gradient].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def inputs(channels, outputs, side, kernel, seed):
    """An image and a kernel."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(channels, side, side)), rng.normal(size=(outputs, channels, kernel, kernel))


def sums(channels, outputs, side, kernel, seed):
    """Equation (1), where all its terms exist."""
    x, w = inputs(channels, outputs, side, kernel, seed)
    out = side - kernel + 1
    y = np.zeros((outputs, out, out))
    for c, i, j in np.ndindex(*y.shape):
        for r, k, m in np.ndindex(channels, kernel, kernel):
            y[c, i, j] += w[c, r, k, m] * x[r, i + kernel - 1 - k, j + kernel - 1 - m]
    return y


def layer(flipped, channels, outputs, side, kernel, seed):
    """torch's layer, with the kernel flipped or not."""
    x, w = (torch.from_numpy(a) for a in inputs(channels, outputs, side, kernel, seed))
    return torch.nn.functional.conv2d(x[None], w.flip(2, 3) if flipped else w)[0].numpy()


TITLES = {
    "cnn-layer": "A layer of torch.nn sums the convolutions of all channels, with flipped kernels",
    "conv-2d": "A convolution of torch is a cross-correlation: a convolution with the flipped kernel",
}
CHANNELS = {"cnn-layer": (2, 3), "conv-2d": (1, 1)}

CLAIMS = tuple(
    Claim(
        id=name,
        title=title,
        equation=r"y_{c i j} = \sum_{r k l} w_{c r k l}\, x_{r,\, i - k,\, j - l}",
        source=Source("theorem", "lecun1998gradient"),
        premises=(Premise("the kernel is flipped in both directions"),),
        parameters={"channels": CHANNELS[name][0], "outputs": CHANNELS[name][1], "side": 7, "kernel": 3},
        judge=equals(rounding=1000),
        predicted=sums,
        observed=partial(layer, flipped=True),
        control=partial(layer, flipped=False),
    )
    for name, title in TITLES.items()
)
