"""Gradients go back through a convolution layer by a full convolution with its kernel.

    delta_x[i, j] = sum_{m, n} delta_y[m, n] w[i - m, j - n]                                                  (1)

Reference: [lecun1998gradient].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(side, kernel, seed):
    """A kernel, and the gradient of the output."""
    rng = np.random.default_rng(seed)
    out = side - kernel + 1
    return rng.normal(size=(kernel, kernel)), rng.normal(size=(out, out))


def predicted(side, kernel, seed):
    """By automatic differentiation."""
    w, delta = (torch.from_numpy(a) for a in problem(side, kernel, seed))
    x = torch.zeros(side, side, dtype=torch.float64, requires_grad=True)
    out = torch.nn.functional.conv2d(x[None, None], w[None, None])[0, 0]
    return torch.autograd.grad((out * delta).sum(), x)[0].numpy()


def spread(turn, side, kernel, seed):
    """Equation (1): every gradient is spread over the kernel, turned or not."""
    w, delta = problem(side, kernel, seed)
    w = w[::-1, ::-1] if turn else w
    found = np.zeros((side, side))
    for m in range(len(delta)):
        for n in range(len(delta)):
            found[m : m + kernel, n : n + kernel] += delta[m, n] * w
    return found


observed = partial(spread, turn=False)  # As it is.
control = partial(spread, turn=True)  # Turned.

CLAIM = Claim(
    id="conv-backward-input",
    title="The gradient of the input of a convolution is the full convolution with the kernel",
    equation=r"\delta^{x}_{ij} = \sum_{mn} \delta^{y}_{mn}\, w_{i-m, j-n}",
    source=Source("theorem", "lecun1998gradient"),
    premises=(Premise("the kernel is not turned in the full convolution"),),
    parameters={"side": 6, "kernel": 3},
    judge=equals(rounding=1e4),
)
