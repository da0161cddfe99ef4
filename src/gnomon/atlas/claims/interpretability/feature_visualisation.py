"""The input that maximizes the activation of a linear unit is proportional to the unit's weights (template).

    x* = argmax_x <w, x> - l2 |x|^2 = w / (2 l2)                                                              (1)

w is the template, x the input, l2 the penalty.
"""

from functools import partial

import numpy as np
import torch
from torch import nn

from gnomon.attribution import visualize_unit
from gnomon.lab import Claim, Premise, Source, bounded_by


def predicted():
    """Returns the smallest allowed correlation of the optimized image and the template."""
    return 0.9


def measure(side, steps, seed, templates):
    """Returns the optimized image's correlation with the first template, for a unit that sums several responses."""
    draw = torch.Generator().manual_seed(seed)
    planted = torch.randn(templates, 1, side, side, generator=draw)
    net = nn.Sequential(nn.Conv2d(1, templates, side, bias=False), nn.Flatten(), nn.Linear(templates, 1, bias=False))
    with torch.no_grad():
        net[0].weight.copy_(planted)
        net[2].weight.fill_(1.0)
    seen = visualize_unit(net, "2", 0, shape=(1, side, side), iterations=steps, seed=seed).image
    return float(np.corrcoef(seen.flatten().numpy(), planted[0].flatten().numpy())[0, 1])


observed = partial(measure, templates=1)  # One template.
control = partial(measure, templates=8)  # Control: the unit responds to eight templates, so its image is their sum.

CLAIM = Claim(
    id="feature-visualisation",
    question="What does the input that excites a unit most look like?",
    equation=r"x^* = \arg\max_x a(x) - R(x)",
    axes=("one unit", "correlation with the template"),
    source=Source("derived", "erhan2009visualizing"),
    premises=(Premise("the unit contains one template"),),
    parameters={"side": 8, "steps": 100},
    full={"side": 28, "steps": 300},
    judge=bounded_by("below"),
)
