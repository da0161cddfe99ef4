"""A sigmoid network equals a tanh network with halved weights and hidden biases and a shifted output bias.

From s(z) = (1 + tanh(z / 2)) / 2,

    <v, s(W x + b)> + c = <v / 2, tanh((W x + b) / 2)> + c + sum(v) / 2                                  (1)

W, b are hidden weights and biases, v and c output weights and bias.
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def inputs(seed):
    """Returns fifty standard normal input vectors for both networks."""
    return torch.randn(50, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def net(width):
    """Returns a sigmoid network with weights of order one."""
    module = nn.Sequential(nn.Linear(6, width), nn.Sigmoid(), nn.Linear(width, 1)).double()
    with torch.no_grad():
        module[0].weight.normal_()
    return module


def predicted(width, seed):
    """Returns the outputs of the tanh network with halved weights and a shifted output bias."""
    with torch.no_grad():
        first, _, last = net(width)
        hidden = torch.tanh((inputs(seed) @ first.weight.mT + first.bias) / 2)
        return hidden @ (last.weight.mT / 2) + last.bias + last.weight.sum() / 2


def outputs(scale, width, seed):
    """Returns the outputs of the sigmoid network."""
    return net(width)(scale * inputs(seed))


observed = partial(outputs, scale=1.0)  # The test compares both networks at the same inputs.
control = partial(outputs, scale=2.0)  # Control: doubled inputs compensate halved weights, but not shifted biases.

CLAIM = Claim(
    id="tanh-sigmoid-identity",
    question="Do sigmoid networks and tanh networks differ?",
    equation=r"v^T \sigma(Wx+b) = \frac{v^T}{2} \tanh(\frac{Wx+b}{2}) + \frac12 \sum_i v_i",
    axes=("input", "output"),
    source=Source("derived"),
    premises=(Premise("the weights and biases of the hidden layer are halved"),),
    parameters={"width": 30},
    full={"width": 1000},
    judge=equals(rounding=1000),  # tolerance 1000 x machine precision: a sum of `width` terms rounds `width` times
)
