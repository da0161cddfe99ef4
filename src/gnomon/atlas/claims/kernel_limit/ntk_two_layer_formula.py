"""A network with one hidden layer has a tangent kernel in closed form, a sum over the hidden units.

f(x) = c sum_i v_i s(w_i x) has df/dv_i = c s(w_i x) and df/dw_i = c v_i s'(w_i x) x, hence

    Theta(x, x') = c^2 [sum_i s(w_i x) s(w_i x') + x.x' sum_i v_i^2 s'(w_i x) s'(w_i x')]                    (1)

v_i and w_i are output and hidden weights, s is the activation. Reference: [jacot2018neural].
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.tangent import ntk

ACTIVATIONS = {nn.Tanh: (torch.tanh, lambda u: 1 - u.tanh() ** 2), nn.ReLU: (torch.relu, lambda u: (u > 0).double())}


def problem(n, d, width, seed, bias=False):
    """Yields for each activation a network with one hidden layer, the inputs, and the activation function."""
    torch.manual_seed(seed)
    x = torch.randn(n, d).double()
    for activation in ACTIVATIONS:
        net = nn.Sequential(nn.Linear(d, width, bias=bias), activation(), nn.Linear(width, 1, bias=False)).double()
        yield net, x, activation


def predicted(n, d, width, seed):
    """Returns the tangent kernel by the closed form, for each activation."""
    found = []
    for net, x, activation in problem(n, d, width, seed):
        s, slope = ACTIVATIONS[activation]
        u, v = x @ net[0].weight.T, net[2].weight[0]
        found.append(s(u) @ s(u).T + (x @ x.T) * ((slope(u) * v**2) @ slope(u).T))
    return torch.stack(found)


def observed(n, d, width, seed):
    """Returns the tangent kernel by gnomon.ntk, for each activation."""
    return torch.stack([ntk(net, x) for net, x, _ in problem(n, d, width, seed)])


def control(n, d, width, seed):
    """Returns the tangent kernel if the networks also have biases, which the formula does not include."""
    return torch.stack([ntk(net, x) for net, x, _ in problem(n, d, width, seed, bias=True)])


CLAIM = Claim(
    id="ntk-two-layer-formula",
    question="What is the tangent kernel of one hidden layer?",
    equation=r"\Theta(x,x') = \sum_i s(w_i x) s(w_i x') + x \cdot x' \sum_i v_i^2 s'(w_i x) s'(w_i x')",
    axes=("pair of inputs, for tanh and ReLU", "tangent kernel"),
    source=Source("derived"),
    premises=(Premise("layers have no biases"), Premise("there is one hidden layer")),
    parameters={"n": 10, "d": 4, "width": 50},
    full={"n": 100, "width": 2000},
    judge=equals(rounding=10_000),
    remark="A factor in front of the output enters squared.",
)
