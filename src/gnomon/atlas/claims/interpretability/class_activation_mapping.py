"""With average pooling and a linear head, the mean of a class activation map is the class logit minus its bias.

    logit_c - b_c = mean_u M_c(u),    M_c(u) = sum_k w_ck F_k(u)                                             (1)

F_k(u) is feature k at position u, w_ck the weight of feature k for class c, M_c the map, b_c the bias.
"""

import torch
from torch import nn

from gnomon.attribution import cam, grad_cam
from gnomon.lab import Claim, Premise, Source, equals


def net(seed, pool):
    """Returns a random convolutional network with the pooling layer ``pool`` and a linear head."""
    torch.manual_seed(seed)
    layers = nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Conv2d(6, 8, 3), nn.ReLU(), pool, nn.Flatten(), nn.Linear(8, 3)
    return nn.Sequential(*layers).double()


def inputs(n, seed):
    """Returns n random images."""
    return torch.rand(n, 1, 12, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@torch.no_grad()
def predicted(n, seed):
    """Returns the logits of class 1 minus the bias of this class."""
    model = net(seed, nn.AdaptiveAvgPool2d(1))
    return (model(inputs(n, seed))[:, 1] - model[6].bias[1]).tolist()


def observed(n, seed):
    """Returns the mean of the class activation map of each image."""
    return cam(net(seed, nn.AdaptiveAvgPool2d(1)), inputs(n, seed), 1).values.mean((1, 2)).tolist()


def control(n, seed):
    """Returns the mean of the map for max pooling, for which the map does not add up to the logit."""
    model = net(seed, nn.AdaptiveMaxPool2d(1))
    return grad_cam(model, inputs(n, seed), 1).values.mean((1, 2)).tolist()


CLAIM = Claim(
    id="class-activation-mapping",
    question="What does a class activation map add up to?",
    equation=r"M_c(u) = \sum_k w_{kc} F_k(u), \quad \mathrm{mean}_u M_c(u) = logit_c - b_c",
    axes=("image", "logit minus bias"),
    source=Source("theorem", "zhou2016learning", "section 2"),
    premises=(Premise("positions are averaged before the linear layer"), Premise("the head is linear")),
    parameters={"n": 8},
    full={"n": 200},
    judge=equals(rounding=1000),
)
