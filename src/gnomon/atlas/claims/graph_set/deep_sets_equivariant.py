"""If each output depends on its set member and a sum over all members, outputs permute with the inputs.

    f(X)_m = rho(x_m, sum_n phi(x_n)),    f(P X) = P f(X)                                                     (1)

x_m are the members, phi and rho networks, P a permutation. Reference: [zaheer2017deep].
"""

import numpy as np
import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals


def net(seed):
    """Returns the random networks phi and rho."""
    torch.manual_seed(seed)
    phi = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 4)).double()
    return phi, nn.Sequential(nn.Linear(7, 8), nn.Tanh(), nn.Linear(8, 3)).double()


def inputs(members, seed):
    """Returns a random set, and a permutation of it."""
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.normal(size=(members, 2))), torch.from_numpy(np.roll(rng.permutation(members), 1))


def apply_to_set(place, x, seed):
    """Returns outputs computed from each member and the sum over all; ``place`` also gives members their position."""
    phi, rho = net(seed)
    where = place * torch.arange(len(x)).double()[:, None]
    with torch.no_grad():
        return rho(torch.cat([x, phi(x).sum(0).expand(len(x), -1), where], 1)).numpy()


def predicted(members, seed):
    """Returns the outputs for the original set, permuted afterwards."""
    phi, rho = net(seed)
    x, order = inputs(members, seed)
    with torch.no_grad():
        total = sum(phi(row) for row in x)
        rows = [rho(torch.cat([row, total, torch.zeros(1).double()])).numpy() for row in x]
    return np.stack(rows)[order.numpy()]


def observed(members, seed):
    """Returns the outputs for the permuted set."""
    x, order = inputs(members, seed)
    return apply_to_set(0.0, x[order], seed)


def control(members, seed):
    """Returns the outputs for the permuted set if each member has its position in the list as a feature."""
    x, order = inputs(members, seed)
    return apply_to_set(1.0, x[order], seed)


CLAIM = Claim(
    id="deep-sets-equivariant",
    question="How can a network give an output to each member of a set?",
    equation=r"f(X)_m = \rho(x_m, \sum_n \phi(x_n)), \quad f(P X) = P f(X)",
    axes=("output coordinate of each member", "output"),
    source=Source("theorem", "zaheer2017deep"),
    premises=(Premise("all members pass through the same map"),),
    parameters={"members": 7},
    judge=equals(rounding=100),
)
