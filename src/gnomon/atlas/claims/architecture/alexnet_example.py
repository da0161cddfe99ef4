"""A network of five convolutions and three dense layers for images of 224 x 224 has 61 million parameters.

    sum over convolutions of (k^2 c_in + 1) c_out  +  sum over dense layers of (n_in + 1) n_out  = 61,100,840  (1)

94 % of them are in the first two dense layers, which do not share weights.
Reference: [krizhevsky2012imagenet].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Equation (1)."""
    kernels = ((11, 3, 64), (5, 64, 192), (3, 192, 384), (3, 384, 256), (3, 256, 256))
    dense = ((9216, 4096), (4096, 4096), (4096, 1000))
    return float(sum((k * k * i + 1) * o for k, i, o in kernels) + sum((i + 1) * o for i, o in dense))


def counted(side):
    """Parameters of the network of torch.nn, without memory for them; its last pooling has so many places a side."""
    with torch.device("meta"):
        net = nn.Sequential(
            nn.Conv2d(3, 64, 11, stride=4, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(), nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(),
            nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2), nn.AdaptiveAvgPool2d(side), nn.Flatten(),
            nn.Linear(256 * side * side, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 1000),
        )  # fmt: skip
    return np.float64(sum(p.numel() for p in net.parameters()))


observed = partial(counted, side=6)  # As it was.
control = partial(counted, side=1)  # The mean over places first.

CLAIM = Claim(
    id="alexnet-example",
    title="Five convolutions and three dense layers have 61,100,840 parameters",
    equation=r"\sum_{conv} (k^2 c_{in} + 1) c_{out} + \sum_{dense} (n_{in} + 1) n_{out}",
    source=Source("definition", "krizhevsky2012imagenet"),
    premises=(Premise("the features of the last pooling, 6 x 6 x 256, enter a dense layer"),),
    parameters={},
    judge=equals(rounding=0),
    remark="The network of the paper was cut in two halves, which saves some connections: 60 million are said there.",
)
