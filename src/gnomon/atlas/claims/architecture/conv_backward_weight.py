"""The gradient of a convolution kernel is a cross-correlation; it is sometimes called a convolution.

    dL/dw[m, n] = sum_{i, j} delta[i, j] x[i + m, j + n]      for y = conv2d(x, w)                            (1)

Reference: [lecun1998gradient].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(side, kernel, seed):
    """An image, a kernel, and the gradient of the output."""
    rng = np.random.default_rng(seed)
    out = side - kernel + 1
    return rng.normal(size=(side, side)), rng.normal(size=(kernel, kernel)), rng.normal(size=(out, out))


def predicted(side, kernel, seed):
    """By automatic differentiation."""
    x, w, delta = (torch.from_numpy(a) for a in problem(side, kernel, seed))
    w.requires_grad_()
    out = torch.nn.functional.conv2d(x[None, None], w[None, None])[0, 0]
    return torch.autograd.grad((out * delta).sum(), w)[0].numpy()


def correlated(turn, side, kernel, seed):
    """Equation (1) in a loop, with the gradient turned or not."""
    x, _, delta = problem(side, kernel, seed)
    delta = delta[::-1, ::-1] if turn else delta
    size = len(delta)
    return np.array([[(delta * x[m : m + size, n : n + size]).sum() for n in range(kernel)] for m in range(kernel)])


observed = partial(correlated, turn=False)  # A cross-correlation.
control = partial(correlated, turn=True)  # A convolution.

CLAIM = Claim(
    id="conv-backward-weight",
    title="The gradient of a kernel is a cross-correlation of the input with the gradient of the output",
    equation=r"\partial L / \partial w_{mn} = \sum_{ij} \delta_{ij}\, x_{i+m, j+n}",
    source=Source("theorem", "lecun1998gradient"),
    premises=(Premise("input and gradient move in the same direction"),),
    parameters={"side": 6, "kernel": 3},
    judge=equals(rounding=1e4),
)
