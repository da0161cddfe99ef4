"""A decision tree of depth eight agrees with a trained network on at least 90 % of the inputs of a small table.

fidelity = P(tree(x) = network(x)) >= 0.9                                                                 (1)
"""

from functools import partial

import torch
from sklearn.datasets import load_wine
from torch import nn

from gnomon.atlas.descent import descend
from gnomon.attribution.trees import surrogate_tree
from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted():
    """Returns 0.9, the lower bound on the share of inputs with equal decisions."""
    return 0.9


def measure(steps, seed, depth):
    """Returns the share of wine data on which a network and a tree of the given depth decide equally."""
    x, y = load_wine(return_X_y=True)
    x = torch.tensor((x - x.mean(0)) / x.std(0), dtype=torch.float32)
    torch.manual_seed(seed)
    net = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.Adam(net.parameters(), 1e-2)
    descend(optimizer, lambda: nn.functional.cross_entropy(net(x), torch.tensor(y)), steps)
    draw = torch.Generator().manual_seed(seed)
    near = x.repeat(20, 1) + 0.3 * torch.randn(20 * len(x), 13, generator=draw)
    return surrogate_tree(net, near, depths=(depth,)).fidelity[0]


observed = partial(measure, depth=8)  # Depth eight.
control = partial(measure, depth=1)  # Depth one.

CLAIM = Claim(
    id="decision-tree-interpretability",
    question="Can a decision tree replace a network?",
    equation=r"P(tree(x) = \phi(x)) \ge 0.9",
    axes=("one network", "share of equal decisions"),
    source=Source("observed", "craven1996extracting"),
    premises=(Premise("the tree is deep enough"),),
    parameters={"steps": 200},
    full={"steps": 1000},
    covers=("performance-interpretability-tradeoff",),
    judge=bounded_by("below"),
    remark="Inputs are the wine data with noise of 0.3 standard deviations, as 178 rows are too few to test a tree.",
)
