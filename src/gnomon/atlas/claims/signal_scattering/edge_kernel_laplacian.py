"""The Laplace kernel (second differences) gives 0 on constants and ramps and responds only to edges.

    k = [[0, 1, 0], [1, -4, 1], [0, 1, 0]],    sum k = 0,    sum u k(u) = 0                                   (1)

A step of height 1 gives 1 and -1 next to it. Reference: [lecun1998gradient], Section II.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals


def predicted(side):
    """Returns the expected responses: 0 on a constant and on ramps, and 1 and -1 in the columns next to a step."""
    zero, step = np.zeros((side, side)), np.zeros((side, side))
    step[:, side // 2 - 1], step[:, side // 2] = 1, -1
    return np.stack([zero, zero, zero, step])[:, 1:-1, 1:-1]


def responses(side, kernel):
    """Returns the responses inside a constant image, two ramps and a step."""
    place = torch.arange(side).double()
    images = [torch.ones(side, side).double(), place.repeat(side, 1), place.repeat(side, 1).T + 3]
    images.append((place >= side // 2).double().repeat(side, 1))
    return functional.conv2d(torch.stack(images)[:, None], torch.tensor(kernel).double()[None, None])[:, 0]


observed = partial(responses, kernel=[[0, 1, 0], [1, -4, 1], [0, 1, 0]])  # The Laplace kernel.
control = partial(responses, kernel=[[0, 0, 0], [0, -1, 1], [0, 0, 0]])  # Control: a difference that responds to ramps.

CLAIM = Claim(
    id="edge-kernel-laplacian",
    question="Which kernel responds only to edges?",
    equation=r"\sum_u k(u) = 0, \quad \sum_u u\, k(u) = 0",
    axes=("pixel of four images (constant, two ramps, step)", "response"),
    source=Source("derived", "lecun1998gradient", "Section II"),
    premises=(Premise("the first moments of the kernel are 0"),),
    parameters={"side": 16},
    judge=equals(rounding=100),
)
