"""Max pooling sends each gradient to the place of the maximum, and to no other.

    dL/dx[m, n] = sum over windows of delta 1{(m, n) is the place of the maximum}                             (1)

Reference: [lecun1998gradient].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(side, seed):
    """An image, and the gradient of the output of windows of two."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(side, side)), rng.normal(size=(side // 2, side // 2))


def predicted(side, seed):
    """By automatic differentiation of PyTorch's pooling."""
    x, delta = (torch.from_numpy(a) for a in problem(side, seed))
    x.requires_grad_()
    out = torch.nn.functional.max_pool2d(x[None, None], 2)[0, 0]
    return torch.autograd.grad((out * delta).sum(), x)[0].numpy()


def routed(share, side, seed):
    """Equation (1); ``share`` of each gradient goes to all four places alike."""
    x, delta = problem(side, seed)
    found = np.zeros_like(x)
    for i in range(side // 2):
        for j in range(side // 2):
            window = x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
            place = np.unravel_index(window.argmax(), (2, 2))
            found[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] += share * delta[i, j] / 4
            found[2 * i + place[0], 2 * j + place[1]] += (1 - share) * delta[i, j]
    return found


observed = partial(routed, share=0.0)  # To the maximum.
control = partial(routed, share=1.0)  # To all, as the mean does.

CLAIM = Claim(
    id="max-pooling",
    title="The gradient of a maximum goes to the place that has it",
    equation=r"\partial L / \partial x_{mn} = \sum_{ij} \delta_{ij}\, 1\{(m,n) = \arg\max_{ij}\}",
    source=Source("derived"),
    premises=(Premise("a window gives its maximum"),),
    parameters={"side": 6},
    judge=equals(rounding=10),
)
