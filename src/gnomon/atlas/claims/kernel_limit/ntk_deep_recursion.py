"""A deep network's limiting tangent kernel is a sum over the layers of products of layer covariances.

With S_j the covariance of the inputs of layer j + 1 and D_j = w^2 E[phi'(u) phi'(v)] over (u, v) ~ N(0, S_(j-1)), for
activation phi and weight variance w^2 / fan_in,

    Theta(x, x') = sum_j S_j(x, x') D_(j+1)(x, x') ... D_J(x, x')                                            (1)

Here phi = relu and w^2 = 2, for J = 1, 2, 3 hidden layers. Reference: [jacot2018neural], Theorem 1.
"""

from functools import partial

import torch
from torch import nn

from gnomon.kernels import limit
from gnomon.lab import Claim, Premise, Source, mean_equals
from gnomon.program import InitializationLaw


def inputs(seed):
    """Returns two correlated points on the sphere of radius 2 in four dimensions."""
    x = torch.randn(2, 4, generator=torch.Generator().manual_seed(seed)).cumsum(0)
    return 2 * x / x.norm(dim=1, keepdim=True)


def predicted(depth, seed):
    """Returns three entries of the tangent kernel for each depth J, divided by J + 1, computed by gnomon.limit."""
    x, found = inputs(seed), []
    for hidden in range(1, depth + 1):
        layers = [part for j in range(hidden) for part in (nn.Linear(4 if j == 0 else 8, 8), nn.ReLU())]
        net = nn.Sequential(*layers, nn.Linear(8, 1))
        kernel = limit(net, init=InitializationLaw(2**0.5), parametrization="ntk").ntk(x)
        found.append(torch.stack((kernel[0, 0], kernel[0, 1], kernel[1, 1])) / (hidden + 1))
    return torch.cat(found)


def kernels(nets, width, depth, seed, draw):
    """Returns three entries of the tangent kernel of many random networks, computed layer by layer."""
    x, found = inputs(seed), []
    for hidden in range(1, depth + 1):
        h = [x.expand(nets, 2, 4)]
        weights = []
        for fan_in in [4, *[width] * (hidden - 1)]:
            weights.append(draw(nets, width, fan_in) * (2 / fan_in) ** 0.5)
            h.append(torch.relu(h[-1] @ weights[-1].mT))
        back = draw(nets, 1, width) * (2 / width) ** 0.5 * (h[-1] > 0)
        theta = h[-1] @ h[-1].mT * 2 / width
        for j in reversed(range(hidden)):
            theta = theta + (h[j] @ h[j].mT) * (back @ back.mT) * 2 / h[j].shape[-1]
            back = (back @ weights[j]) * (h[j] > 0)
        found += [theta[:, i, j] / (hidden + 1) for i, j in ((0, 0), (0, 1), (1, 1))]
    return torch.stack(found, 1)


observed = partial(kernels, draw=lambda *shape: torch.randn(*shape))  # Weights are Gaussian with variance 2 / fan_in.
# Control: PyTorch's default weights, uniform with variance 1 / (3 fan_in), which have another kernel.
control = partial(kernels, draw=lambda *shape: (torch.rand(*shape) * 2 - 1) / 2**0.5)

CLAIM = Claim(
    id="ntk-deep-recursion",
    question="What is the tangent kernel of a deep, wide network?",
    equation=r"\Theta = \sum_{j=0}^{J} \Sigma_j \dot\Sigma_{j+1} \cdots \dot\Sigma_J",
    axes=("pair of inputs, for 1, 2 and 3 hidden layers", "tangent kernel / number of layers"),
    source=Source("theorem", "jacot2018neural", "Theorem 1"),
    premises=(Premise("the weights have variance 2 / fan_in"), Premise("all hidden layers are wide")),
    parameters={"nets": 200, "width": 160, "depth": 3},
    full={"nets": 100, "width": 400},
    judge=mean_equals(confidence=0.999, within=0.04, because="the error at finite width is about 2 depth / width"),
)
