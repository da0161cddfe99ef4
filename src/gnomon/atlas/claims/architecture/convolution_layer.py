"""torch's conv2d is the mathematical convolution with a flipped kernel, with one channel or several.

    y[c, i, j] = sum over r, k, l of w[c, r, k, l] x[r, i - k, j - l]  =  conv2d(x, w flipped)                (1)

y is the output with channels c, x the input with channels r, w the kernels, and (i, j) a pixel; k and l run over the
kernel. Reference: [lecun1998gradient].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def inputs(channels, outputs, side, kernel, seed):
    """Returns a random image and random kernels."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(channels, side, side)), rng.normal(size=(outputs, channels, kernel, kernel))


def sums(channels, outputs, side, kernel, seed):
    """Returns the mathematical convolution by loops, at all pixels at which the kernel is inside the image."""
    x, w = inputs(channels, outputs, side, kernel, seed)
    out = side - kernel + 1
    y = np.zeros((outputs, out, out))
    for c, i, j in np.ndindex(*y.shape):
        for r, k, m in np.ndindex(channels, kernel, kernel):
            y[c, i, j] += w[c, r, k, m] * x[r, i + kernel - 1 - k, j + kernel - 1 - m]
    return y


def layer(flipped, channels, outputs, side, kernel, seed):
    """Returns the output of torch's conv2d with the kernel flipped or not."""
    x, w = (torch.from_numpy(a) for a in inputs(channels, outputs, side, kernel, seed))
    return torch.nn.functional.conv2d(x[None], w.flip(2, 3) if flipped else w)[0].numpy()


ROWS = (  # columns: id, title, question, number of input channels, number of output channels
    ("cnn-layer", "torch's convolution layer sums over input channels the convolutions with flipped kernels",
     "What does a convolution layer with several channels compute?", 2, 3),
    ("conv-2d", "torch's conv2d is a cross-correlation: a convolution with the flipped kernel",
     "Does torch's conv2d compute a convolution?", 1, 1),
)  # fmt: skip
CLAIMS = tuple(
    Claim(
        id=name,
        title=title,
        question=question,
        axes=("output pixel", "output"),
        equation=r"y_{c i j} = \sum_{r k l} w_{c r k l}\, x_{r,\, i - k,\, j - l}",
        source=Source("definition", "lecun1998gradient"),
        premises=(Premise("the kernel is flipped in both directions"),),
        parameters={"channels": channels, "outputs": outputs, "side": 7, "kernel": 3},
        judge=equals(rounding=1000),
        predicted=sums,
        observed=partial(layer, flipped=True),
        control=partial(layer, flipped=False),
    )
    for name, title, question, channels, outputs in ROWS
)
