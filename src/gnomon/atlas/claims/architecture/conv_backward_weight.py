"""The gradient with respect to a convolution's kernel is the cross-correlation of input and output gradient.

    dL/dw[m, n] = sum_{i, j} delta[i, j] x[i + m, j + n]      for y = conv2d(x, w)                            (1)

L is the loss, delta the gradient of L with respect to the output y, x the input and w the kernel. Some texts call this
a convolution, which would rotate delta. Reference: [lecun1998gradient].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(side, kernel, seed):
    """Returns a random image, a random kernel, and a random gradient with respect to the output."""
    rng = np.random.default_rng(seed)
    out = side - kernel + 1
    return rng.normal(size=(side, side)), rng.normal(size=(kernel, kernel)), rng.normal(size=(out, out))


def predicted(side, kernel, seed):
    """Returns the gradient with respect to the kernel by automatic differentiation."""
    x, w, delta = (torch.from_numpy(a) for a in problem(side, kernel, seed))
    w.requires_grad_()
    out = torch.nn.functional.conv2d(x[None, None], w[None, None])[0, 0]
    return torch.autograd.grad((out * delta).sum(), w)[0].numpy()


def correlate(turn, side, kernel, seed):
    """Returns the correlation of input and output gradient; ``turn`` rotates the output gradient by 180 degrees."""
    x, _, delta = problem(side, kernel, seed)
    delta = delta[::-1, ::-1] if turn else delta
    size = len(delta)
    return np.array([[(delta * x[m : m + size, n : n + size]).sum() for n in range(kernel)] for m in range(kernel)])


observed = partial(correlate, turn=False)  # A cross-correlation.
control = partial(correlate, turn=True)  # A convolution.

CLAIM = Claim(
    id="conv-backward-weight",
    question="How does backpropagation compute the gradient of a convolution kernel?",
    equation=r"\partial L / \partial w_{mn} = \sum_{ij} \delta_{ij}\, x_{i+m, j+n}",
    axes=("entry of the kernel", "gradient of the loss"),
    source=Source("theorem", "lecun1998gradient"),
    premises=(Premise("input and output gradient are read in the same direction"),),
    parameters={"side": 6, "kernel": 3},
    judge=equals(rounding=1e4),
)
