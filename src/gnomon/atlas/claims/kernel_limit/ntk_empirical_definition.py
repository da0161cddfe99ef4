"""The tangent kernel of a network is the matrix of inner products of its output gradients.

    Theta(x, x') = sum_w df(x)/dw df(x')/dw                                                                 (1)

f is the output and w runs over all parameters: weights and biases of all layers. Reference: [jacot2018neural].
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.tangent import ntk


def problem(n, width, seed):
    """Returns a small convolutional network with one output, and random images."""
    torch.manual_seed(seed)
    net = nn.Sequential(
        nn.Conv2d(1, width, 3, padding=1), nn.Tanh(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(16 * width, 1)
    )
    return net.double(), torch.randn(n, 1, 8, 8).double()


def predicted(n, width, seed):
    """Returns the tangent kernel by gnomon.ntk, which does not store the gradients."""
    return ntk(*problem(n, width, seed))


def gram(net, x, parameters):
    """Returns inner products of gradients, from one backward pass for each point."""
    rows = [torch.cat([g.flatten() for g in torch.autograd.grad(net(p[None]).sum(), parameters)]) for p in x]
    return torch.stack([torch.stack([a @ b for b in rows]) for a in rows])


def observed(n, width, seed):
    """Returns the inner products of the output gradients over all parameters."""
    net, x = problem(n, width, seed)
    return gram(net, x, list(net.parameters()))


def control(n, width, seed):
    """Returns the inner products of the output gradients without the convolution's biases."""
    net, x = problem(n, width, seed)
    return gram(net, x, [p for name, p in net.named_parameters() if name != "0.bias"])


CLAIM = Claim(
    id="ntk-empirical-definition",
    question="What is the tangent kernel of a network?",
    equation=r"\Theta(x, x') = \nabla_w f(x)^T \nabla_w f(x')",
    axes=("pair of images", "tangent kernel"),
    source=Source("definition", "jacot2018neural", "Section 4"),
    premises=(Premise("all parameters are in the sum"),),
    parameters={"n": 8, "width": 4},
    full={"n": 40, "width": 64},
    judge=equals(rounding=10_000),
)
