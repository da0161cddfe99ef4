"""The output of torch's convolution of a 5 x 5 image with a 3 x 3 kernel equals a computation by hand.

    y[u, v] = sum_{s, t} x[u + s, v + t] k[s, t],    y[0, 0] = 2 + 8 + 27 - 8 + 7 + 16 + 2 - 5 + 2 = 51        (1)

x is the image, k the kernel, y the output. torch's layer is a correlation: it does not flip the kernel.
Reference: [lecun1998gradient], Section II.
"""

from functools import partial

import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals

IMAGE = [[2, 4, 9, 1, 4], [2, 1, 4, 4, 6], [1, 1, 2, 9, 2], [7, 3, 5, 1, 3], [2, 3, 4, 8, 5]]
KERNEL = [[1, 2, 3], [-4, 7, 4], [2, -5, 1]]


def predicted():
    """Returns the nine outputs of the convolution, computed by hand."""
    return [[51, 66, 20], [31, 49, 101], [15, 53, -2]]


def layer(kernel):
    """Returns the output of torch's convolution with this kernel."""
    return functional.conv2d(torch.tensor([[IMAGE]]).double(), kernel[None, None].double())[0, 0]


observed = partial(layer, kernel=torch.tensor(KERNEL))  # The kernel is not flipped, as in torch's convolution.
control = partial(layer, kernel=torch.tensor(KERNEL).flip(0, 1))  # Control: a flipped kernel; its first output is 6.

CLAIM = Claim(
    id="conv-example-5x5",
    question="How is a convolution computed by hand?",
    equation=r"y[u, v] = \sum_{s, t} x[u + s, v + t] k[s, t], \quad y[0, 0] = 51",
    axes=("output pixel", "output"),
    source=Source("definition", "lecun1998gradient", "Section II"),
    premises=(Premise("the kernel is not flipped"),),
    judge=equals(rounding=10),
)
