"""With average pooling and a linear head, the mean of a class activation map is the class logit minus its bias.

    logit_c - b_c = mean_u M_c(u),    M_c(u) = sum_k w_ck F_k(u)                                             (1)

F_k(u) is feature k at position u, w_ck the weight of feature k for class c, M_c the map, b_c the bias.
"""

from functools import partial

import torch
from torch import nn

from gnomon.attribution import cam
from gnomon.lab import Claim, Premise, Source, equals


def net(seed, pool):
    """Returns a random convolutional network with the pooling layer ``pool`` and a linear head."""
    torch.manual_seed(seed)
    layers = nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Conv2d(6, 8, 3), nn.ReLU(), pool, nn.Flatten(), nn.Linear(8, 3)
    return nn.Sequential(*layers).double()


def inputs(n, seed):
    """Returns n random images."""
    return torch.rand(n, 1, 12, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def predicted(n):
    """Returns 1 for each image, the mean of the map divided by the logit of class 1 minus its bias."""
    return [1.0] * n


def ratios(pool, maps, n, seed):
    """Returns the mean of the map divided by the logit minus its bias, both of one network, for each image."""
    model, x = net(seed, pool(1)), inputs(n, seed)
    return (maps(model, x).mean((1, 2)) / (model(x)[:, 1] - model[6].bias[1])).tolist()


def weighted_features(model, x):
    """Returns the map of equation (1) for class 1, computed from the features before pooling."""
    return torch.einsum("k,nkuv->nuv", model[6].weight[1], model[:4](x))


observed = partial(ratios, pool=nn.AdaptiveAvgPool2d, maps=lambda model, x: cam(model, x, 1).values)  # Mean pooling.
control = partial(ratios, pool=nn.AdaptiveMaxPool2d, maps=weighted_features)  # Control: pooling takes the maximum.

CLAIM = Claim(
    id="class-activation-mapping",
    question="What does a class activation map add up to?",
    equation=r"M_c(u) = \sum_k w_{kc} F_k(u), \quad \mathrm{mean}_u M_c(u) = logit_c - b_c",
    axes=("image", "mean of the map / (logit - bias)"),
    source=Source("theorem", "zhou2016learning", "section 2"),
    premises=(Premise("positions are averaged before the linear layer"), Premise("the head is linear")),
    parameters={"n": 8},
    full={"n": 200},
    judge=equals(within=1e-9, because="rounding of sums, divided by logits of 1e-6 or more"),
)
