"""The gradient with respect to a convolution's input is the full convolution of the output gradient with the kernel.

    delta_x[i, j] = sum_{m, n} delta_y[m, n] w[i - m, j - n]                                                  (1)

delta_y is the gradient of the loss with respect to the output, delta_x with respect to the input, and w is the kernel.
Reference: [lecun1998gradient].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(side, kernel, seed):
    """Returns a random kernel and a random gradient of the loss with respect to the output."""
    rng = np.random.default_rng(seed)
    out = side - kernel + 1
    return rng.normal(size=(kernel, kernel)), rng.normal(size=(out, out))


def predicted(side, kernel, seed):
    """Returns the gradient with respect to the convolution's input, by automatic differentiation."""
    w, delta = (torch.from_numpy(a) for a in problem(side, kernel, seed))
    x = torch.zeros(side, side, dtype=torch.float64, requires_grad=True)
    out = torch.nn.functional.conv2d(x[None, None], w[None, None])[0, 0]
    return torch.autograd.grad((out * delta).sum(), x)[0].numpy()


def full_convolution(turn, side, kernel, seed):
    """Returns the sum of each output gradient times the kernel; ``turn`` rotates the kernel by 180 degrees."""
    w, delta = problem(side, kernel, seed)
    w = w[::-1, ::-1] if turn else w
    found = np.zeros((side, side))
    for m in range(len(delta)):
        for n in range(len(delta)):
            found[m : m + kernel, n : n + kernel] += delta[m, n] * w
    return found


observed = partial(full_convolution, turn=False)  # The test does not rotate the kernel, as the claim states.
control = partial(full_convolution, turn=True)  # The kernel rotated.

CLAIM = Claim(
    id="conv-backward-input",
    question="How does backpropagation pass through a convolution?",
    equation=r"\delta^{x}_{ij} = \sum_{mn} \delta^{y}_{mn}\, w_{i-m, j-n}",
    axes=("pixel of the input", "gradient of the loss"),
    source=Source("theorem", "lecun1998gradient"),
    premises=(Premise("the kernel is not rotated in the full convolution"),),
    parameters={"side": 6, "kernel": 3},
    judge=equals(rounding=1e4),
)
