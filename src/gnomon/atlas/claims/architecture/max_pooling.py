"""Max pooling passes each gradient to the position of the window's maximum and nowhere else.

    dL/dx[m, n] = sum over windows of delta 1{(m, n) is the place of the maximum}                             (1)

L is the loss, x the input, and delta the gradient of the output of each window. Reference: [lecun1998gradient].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(side, seed):
    """Returns a random image and a random gradient for the output of each 2 x 2 window."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(side, side)), rng.normal(size=(side // 2, side // 2))


def predicted(side, seed):
    """Returns the gradient with respect to the image by automatic differentiation of torch's max pooling."""
    x, delta = (torch.from_numpy(a) for a in problem(side, seed))
    x.requires_grad_()
    out = torch.nn.functional.max_pool2d(x[None, None], 2)[0, 0]
    return torch.autograd.grad((out * delta).sum(), x)[0].numpy()


def route_gradient(share, side, seed):
    """Returns the gradient if each window passes it to its largest pixel, except a share split among all four."""
    x, delta = problem(side, seed)
    found = np.zeros_like(x)
    for i in range(side // 2):
        for j in range(side // 2):
            window = x[2 * i : 2 * i + 2, 2 * j : 2 * j + 2]
            place = np.unravel_index(window.argmax(), (2, 2))
            found[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] += share * delta[i, j] / 4
            found[2 * i + place[0], 2 * j + place[1]] += (1 - share) * delta[i, j]
    return found


observed = partial(route_gradient, share=0.0)  # The test sends the whole gradient to the largest of four pixels.
control = partial(route_gradient, share=1.0)  # Control: each of four pixels gets a quarter, as in mean pooling.

CLAIM = Claim(
    id="max-pooling",
    question="Which input gets the gradient in max pooling?",
    equation=r"\partial L / \partial x_{mn} = \sum_{ij} \delta_{ij}\, 1\{(m,n) = \arg\max_{ij}\}",
    axes=("pixel of the input", "gradient of the loss"),
    source=Source("derived"),
    premises=(Premise("a window returns its maximum"),),
    parameters={"side": 6},
    judge=equals(rounding=10),
)
