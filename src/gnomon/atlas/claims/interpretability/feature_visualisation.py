"""The input that maximizes the activation of a linear unit is proportional to the unit's weights (template).

    x* = argmax_x <w, x> - l2 |x|^2 = w / (2 l2)                                                              (1)

w is the template, x the input, l2 the penalty.
"""

from functools import partial

import torch
from torch import nn

from gnomon.attribution import visualize_unit
from gnomon.lab import Claim, Premise, Source, equals

L2_WEIGHT = 1.0


def problem(side, seed, templates=1):
    """Returns random templates, the weights of a unit."""
    return torch.randn(templates, 1, side, side, generator=torch.Generator().manual_seed(seed))


def predicted(side, seed):
    """Returns the template divided by twice the penalty."""
    return problem(side, seed)[0] / (2 * L2_WEIGHT)


def measure(side, steps, seed, templates):
    """Returns the optimized image, for a unit that sums the responses of several templates."""
    planted = problem(side, seed, templates)
    net = nn.Sequential(nn.Conv2d(1, templates, side, bias=False), nn.Flatten(), nn.Linear(templates, 1, bias=False))
    with torch.no_grad():
        net[0].weight.copy_(planted)
        net[2].weight.fill_(1.0)
    seen = visualize_unit(net, "2", 0, shape=(1, side, side), iterations=steps, l2_weight=L2_WEIGHT, seed=seed)
    return seen.image


observed = partial(measure, templates=1)  # One template.
control = partial(measure, templates=8)  # Control: the unit responds to eight templates, so its image is their sum.

CLAIM = Claim(
    id="feature-visualisation",
    question="What does the input that excites a unit most look like?",
    equation=r"x^* = \arg\max_x a(x) - R(x)",
    axes=("pixel", "optimized input"),
    source=Source("derived", "erhan2009visualizing"),
    premises=(Premise("the unit contains one template"),),
    parameters={"side": 8, "steps": 100},
    full={"side": 28, "steps": 300},
    judge=equals(within=0.01, because="Adam at rate 0.1 ends within this of the maximum after 100 steps"),
)
