"""Too large steps can switch ReLU units off on all data; their gradient is then zero, so they stay dead.

A unit with preactivation z_i < 0 on every sample i has relu'(z_i) = 0, so

    dL/dw = sum_i (dL/dh_i) relu'(z_i) x_i = 0                                                           (1)

exactly, with h_i its output, x_i its input, w its weights and L the loss.
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns 1 (a tenth of the units or more are dead), then 0 for their gradient and for their movement."""
    return [1.0, 0.0, 0.0]


def train(activation, n, width, rate):
    """Returns whether a tenth of the units is dead after 30 large steps, their gradient, and their later movement."""
    x = torch.rand(n, 5)
    y = torch.sin(3 * x.sum(1, keepdim=True))
    net = nn.Sequential(nn.Linear(5, width), activation, nn.Linear(width, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=rate)

    def steps(count):
        for _ in range(count):
            optimizer.zero_grad()
            nn.functional.smooth_l1_loss(net(x), y).backward()
            optimizer.step()

    steps(30)
    dead = (net[0](x) < 0).all(0)
    before = net[0].weight.detach().clone()
    optimizer.zero_grad()
    nn.functional.smooth_l1_loss(net(x), y).backward()
    slope = float(net[0].weight.grad[dead].abs().sum())
    steps(30)
    return [float(dead.float().mean() >= 0.1), slope, float((net[0].weight.detach() - before)[dead].abs().sum())]


observed = partial(train, activation=nn.ReLU())  # ReLU.
control = partial(train, activation=nn.LeakyReLU(0.1))  # Control: a leaky ReLU has no zero slope, so units never die.

CLAIM = Claim(
    id="dead-relu-units",
    question="Why do dead ReLU units never recover?",
    equation=r"z_i < 0 \; \forall i \Rightarrow \partial L / \partial w = 0",
    axes=("enough dead units, their gradient, their later movement", "1 if yes; gradient; distance"),
    source=Source("derived"),
    premises=(Premise("the activation is a ReLU"), Premise("the learning rate is large", lambda rate: rate >= 1)),
    parameters={"n": 50, "width": 64, "rate": 2.0},
    full={"n": 500, "width": 256, "rate": 2.0},
    judge=equals(rounding=0),
)
