"""A tree-shaped network learns a target composed in the same tree from a third of a shallow network's examples.

    f(x) = h(h(h(x1, x2), h(x3, x4)), h(h(x5, x6), h(x7, x8))):   error deep (n) < error shallow (3 n)        (1)

h is a function of two numbers, and n the number of examples. The deep network is a binary tree with a small network at
each node; the shallow one has a single hidden layer and as many parameters. Reference: [poggio2017why].
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, in_order


def predicted():
    """Returns the names of the two networks, the one with the smaller test error first."""
    return ("deep", "shallow")


def tree(x):
    """Returns the compositional target: h(a, b) = tanh(2 a b + a - b), applied to pairs of inputs on three levels."""
    while x.shape[1] > 1:
        a, b = x[:, ::2], x[:, 1::2]
        x = torch.tanh(2 * a * b + a - b)
    return x


def across(x):
    """Returns a target that does not fit the tree: a sum of products of inputs that are far apart in it."""
    return (x[:, :4] * x[:, 4:]).sum(1, keepdim=True) / 2


def error(net, target, examples, steps):
    """Returns the test error after training with Adam, divided by the variance of the target."""
    x, t = torch.randn(examples, 8), torch.randn(1000, 8)
    y, z = target(x), target(t)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(steps):
        loss = (net(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        return float((net(t) - z).square().mean() / z.var())


class Tree(nn.Module):
    """A network shaped like a binary tree: a small network at every node, shared by all nodes of a level."""

    def __init__(self):
        super().__init__()
        self.levels = nn.ModuleList(nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 1)) for _ in range(3))

    def forward(self, x):
        """Returns the output of the tree: joins neighboring pairs of inputs, level by level."""
        for level in self.levels:
            x = level(x.reshape(len(x), -1, 2))[..., 0]
        return x


def errors(target, examples, steps, repeats, seed):
    """Returns the test errors of the deep network and of the shallow one, which gets three times the examples."""
    found = {"deep": [], "shallow": []}
    for i in range(repeats):
        torch.manual_seed(seed + i)
        shallow = nn.Sequential(nn.Linear(8, 30), nn.Tanh(), nn.Linear(30, 1))
        for name, net in (("deep", Tree()), ("shallow", shallow)):
            found[name].append(error(net, target, examples * (1 if name == "deep" else 3), steps))
    return {name: np.array(values) for name, values in found.items()}


observed = partial(errors, target=tree)  # The test's target has the same tree structure as the deep network.
control = partial(errors, target=across)  # Control: the target has another tree structure than the deep network.

CLAIM = Claim(
    id="compositionality-features",
    question="Do layers help if the target is built from parts of parts?",
    equation=r"f = h(h(h(x_1, x_2), h(x_3, x_4)), \dots)",
    axes=("network", "test error / variance of the target"),
    source=Source("observed", "poggio2017why"),
    premises=(Premise("the target is built from parts of parts, like the deep network"),),
    parameters={"examples": 200, "steps": 120, "repeats": 8},
    full={"examples": 200, "steps": 1000, "repeats": 8},
    judge=in_order(),
    remark="A small model of the idea: edges, textures and parts of objects need networks trained on photographs.",
)
