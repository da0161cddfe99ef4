"""A chain of additive coupling layers, as in a RevNet, can be inverted exactly and preserves volume.

    y = [x_2, x_1 + F(x_2)],    log |det| = 0                                                                 (1)

x_1 and x_2 are the halves of the input, F is any network, and det the determinant of the Jacobian of the chain.
Reference: [jacobsen2018revnet].
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import ReversibleNetwork


def predicted():
    """Returns zeros: no reconstruction error and no change of volume."""
    return np.zeros(2)


def observed(channels, depth, seed):
    """Returns the reconstruction error and the log determinant of a chain of additive coupling layers."""
    torch.manual_seed(seed)
    net, x = ReversibleNetwork(channels, depth=depth, width=8).double(), torch.randn(channels).double()
    jacobian = torch.func.jacrev(net)(x).detach()
    with torch.no_grad():
        back = float((net.inverse(net(x)) - x).abs().max())
    return np.array([back, float(torch.linalg.slogdet(jacobian)[1])])


def control(channels, depth, seed):
    """Returns reconstruction error and log determinant if each block changes both halves, so the inverse fails."""
    torch.manual_seed(seed)
    net, x = ReversibleNetwork(channels, depth=depth, width=8).double(), torch.randn(channels).double()

    def both(z):
        for block in net:
            first, second = z.chunk(2, -1)
            z = torch.cat([second + block.body(first), first + block.body(second)], -1)
        return z

    with torch.no_grad():
        back = float((net.inverse(both(x)) - x).abs().max())
    return np.array([back, float(torch.linalg.slogdet(torch.func.jacrev(both)(x).detach())[1])])


CLAIM = Claim(
    id="invertible-revnet",
    question="Can a deep network keep all information about its input?",
    equation=r"\log|\det \partial y / \partial x| = 0, \quad F^{-1}(F(x)) = x",
    axes=("reconstruction error, then log determinant", "error; logarithm of the volume change"),
    source=Source("theorem", "jacobsen2018revnet"),
    premises=(Premise("each block changes one half and keeps the other"),),
    parameters={"channels": 6, "depth": 10},
    judge=equals(within=1e-9, because="ten couplings in float64"),
)
