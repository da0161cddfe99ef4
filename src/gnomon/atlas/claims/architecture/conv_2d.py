"""What libraries call convolution does not turn the kernel; the convolution of analysis does.

    (x * w)[i, j] = sum_{k, l} x[i - k, j - l] w[k, l] = conv2d(x, turned w)                                  (1)

Reference: [lecun1998gradient].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(side, kernel, seed):
    """An image and a kernel."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(side, side)), rng.normal(size=(kernel, kernel))


def predicted(side, kernel, seed):
    """By its definition, where the kernel fits."""
    x, w = problem(side, kernel, seed)
    out = side - kernel + 1
    found = np.zeros((out, out))
    for i in range(out):
        for j in range(out):
            for k in range(kernel):
                for m in range(kernel):
                    found[i, j] += x[i + kernel - 1 - k, j + kernel - 1 - m] * w[k, m]
    return found


def by_torch(turn, side, kernel, seed):
    """PyTorch's function, with the kernel turned or not."""
    x, w = (torch.from_numpy(a)[None, None] for a in problem(side, kernel, seed))
    return torch.nn.functional.conv2d(x, w.flip(2, 3) if turn else w)[0, 0].numpy()


observed = partial(by_torch, turn=True)  # Turned.
control = partial(by_torch, turn=False)  # As it is.

CLAIM = Claim(
    id="conv-2d",
    title="A convolution layer of PyTorch is a cross-correlation: a convolution with turned kernels",
    equation=r"(x * w)[i,j] = \sum_{k,l} x[i-k, j-l]\, w[k,l]",
    source=Source("theorem", "lecun1998gradient"),
    premises=(Premise("the kernel is turned around"),),
    parameters={"side": 7, "kernel": 3},
    judge=equals(rounding=1e4),
)
