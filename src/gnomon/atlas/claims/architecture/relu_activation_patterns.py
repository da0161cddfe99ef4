"""A ReLU network is affine on each set of inputs with the same activation pattern, and each such set is convex.

    f(sum_i a_i x_i) = sum_i a_i f(x_i)      for x_i in one cell, a_i >= 0 of sum 1                           (1)

f is the network. Such a set of inputs is called a cell or linear region. Reference: [montufar2014number], Section 2.
"""

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.robustness import regions_in_plane


def problem(widths, seed):
    """Returns a random network, the corners of its linear regions in a square, and random weights that sum to 1."""
    torch.manual_seed(seed)
    layers = [p for a, b in zip((2, *widths), widths, strict=False) for p in (torch.nn.Linear(a, b), torch.nn.ReLU())]
    net = torch.nn.Sequential(*layers, torch.nn.Linear(widths[-1], 1)).double().requires_grad_(requires_grad=False)
    cells = regions_in_plane(net, torch.zeros(2), torch.eye(2), radius=2.0).cells
    return net, cells, [torch.rand(len(cell)).double() for cell in cells]


def predicted(widths, seed):
    """Returns the weighted mean of the network's outputs at the corners of each linear region."""
    net, cells, weights = problem(widths, seed)
    return torch.stack([(w / w.sum()) @ net(cell)[:, 0] for cell, w in zip(cells, weights, strict=True)])


def observed(widths, seed):
    """Returns the network's output at the weighted mean of the corners of each linear region."""
    net, cells, weights = problem(widths, seed)
    return torch.stack([net(((w / w.sum()) @ cell)[None])[0, 0] for cell, w in zip(cells, weights, strict=True)])


def control(widths, seed):
    """Returns the network's output halfway between a point of each linear region and a point of the next one."""
    net, cells, weights = problem(widths, seed)
    moved = [cells[(i + 1) % len(cells)].mean(0) for i in range(len(cells))]
    points = [((w / w.sum()) @ cell + m) / 2 for cell, w, m in zip(cells, weights, moved, strict=True)]
    return torch.stack([net(p[None])[0, 0] for p in points])


CLAIM = Claim(
    id="relu-activation-patterns",
    question="What does a ReLU network do between its kinks?",
    equation=r"f\left(\sum_i a_i x_i\right) = \sum_i a_i f(x_i)",
    axes=("linear region", "output of the network"),
    source=Source("theorem", "montufar2014number", "Section 2"),
    premises=(Premise("the points share an activation pattern"),),
    parameters={"widths": (8, 6)},
    full={"widths": (20, 20)},
    judge=equals(rounding=1e5),
)
