"""AlexNet (five convolutions and three dense layers, for images of 224 x 224) has 61,100,840 parameters.

    sum over convolutions of (k^2 c_in + 1) c_out  +  sum over dense layers of (n_in + 1) n_out  = 61,100,840  (1)

k is the side of a kernel, c_in and c_out are channels, n_in and n_out are units; each +1 is a bias. The three dense
layers have 58,631,144 parameters, 96 % of all, because they do not share weights. Reference: [krizhevsky2012imagenet].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns the number of parameters of all layers, then of the dense layers alone."""
    kernels = ((11, 3, 64), (5, 64, 192), (3, 192, 384), (3, 384, 256), (3, 256, 256))
    dense = ((9216, 4096), (4096, 4096), (4096, 1000))
    in_dense = sum((i + 1) * o for i, o in dense)
    return [float(sum((k * k * i + 1) * o for k, i, o in kernels) + in_dense), float(in_dense)]


def count_parameters(side):
    """Returns the number of parameters of AlexNet with ``side`` x ``side`` pooling outputs: all, then dense layers."""
    with torch.device("meta"):
        net = nn.Sequential(
            nn.Conv2d(3, 64, 11, stride=4, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 384, 3, padding=1), nn.ReLU(), nn.Conv2d(384, 256, 3, padding=1), nn.ReLU(),
            nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2), nn.AdaptiveAvgPool2d(side), nn.Flatten(),
            nn.Linear(256 * side * side, 4096), nn.ReLU(), nn.Linear(4096, 4096), nn.ReLU(), nn.Linear(4096, 1000),
        )  # fmt: skip
    layers = net, *(layer for layer in net if isinstance(layer, nn.Linear))
    total, *in_dense = (sum(p.numel() for p in layer.parameters()) for layer in layers)
    return np.array([total, sum(in_dense)], float)


observed = partial(count_parameters, side=6)  # The test counts the published network with 6 x 6 outputs after pooling.
control = partial(count_parameters, side=1)  # Control: the last pooling has one output, so fewer weights follow it.

CLAIM = Claim(
    id="alexnet-example",
    question="How many parameters does AlexNet have, and in which layers are they?",
    equation=r"\sum_{conv} (k^2 c_{in} + 1) c_{out} + \sum_{dense} (n_{in} + 1) n_{out}",
    axes=("all layers, then dense layers", "number of parameters"),
    source=Source("definition", "krizhevsky2012imagenet"),
    premises=(Premise("the last pooling gives 6 x 6 x 256 features to the first dense layer"),),
    judge=equals(rounding=0),
    remark="The paper says 60 million: its network was split over two GPUs, which removes some connections.",
)
