"""m ReLU units with lines in general position cut a plane into 1 + m + m (m - 1) / 2 linear regions.

    sum over i <= min(n, m) of C(m, i)       for m hyperplanes in n dimensions                                (1)

C is the binomial coefficient; in a plane n = 2. Units in special position give fewer regions.
Reference: [zaslavsky1975facing].
"""

from functools import partial
from math import comb

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.robustness import regions_in_plane


def predicted(units):
    """Returns the number of regions, 1 + m + m (m - 1) / 2, for each number of units m."""
    return np.array([float(sum(comb(m, i) for i in range(3))) for m in units])


def count_regions(spread, units, radius):
    """Returns the number of linear regions of a hidden layer whose lines spread over ``spread`` of a half turn."""
    found = []
    for m in units:
        net = torch.nn.Sequential(torch.nn.Linear(2, m), torch.nn.ReLU(), torch.nn.Linear(m, 1)).double()
        angle = 0.1 + spread * 2.9 * torch.arange(m, dtype=torch.float64) / m
        with torch.no_grad():
            net[0].weight.copy_(torch.stack([angle.cos(), angle.sin()], 1))
            net[0].bias.copy_(0.3 * torch.sin(7 * torch.arange(m, dtype=torch.float64) + 1))
        found.append(float(regions_in_plane(net, torch.zeros(2), torch.eye(2), radius=radius).count))
    return np.array(found)


observed = partial(count_regions, spread=1.0)  # The test's lines differ in angle and all cross inside the square.
control = partial(count_regions, spread=0.0)  # Parallel lines.

CLAIM = Claim(
    id="zaslavsky-regions",
    question="Into how many regions do ReLU units cut the input space?",
    equation=r"\sum_{i=0}^{\min(n, m)} \binom{m}{i}",
    axes=("number of units m", "number of regions", "units"),
    source=Source("theorem", "zaslavsky1975facing"),
    premises=(Premise("the lines are in general position"),),
    parameters={"units": (3, 6, 8), "radius": 200.0},
    full={"units": (3, 6, 10, 20), "radius": 2000.0},
    judge=equals(rounding=0),
)
