"""A chain of additive couplings is bijective and keeps volumes: nothing is lost before the last projection.

    y = [x_2, x_1 + F(x_2)],    log |det| = 0                                                                 (1)

Reference: [jacobsen2018revnet].
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import Reversible


def predicted():
    """No error of the inverse, no change of volume."""
    return np.zeros(2)


def observed(channels, depth, seed):
    """A chain of couplings."""
    torch.manual_seed(seed)
    net, x = Reversible(channels, depth=depth, width=8).double(), torch.randn(channels).double()
    jacobian = torch.func.jacrev(net)(x).detach()
    with torch.no_grad():
        back = float((net.inverse(net(x)) - x).abs().max())
    return np.array([back, float(torch.linalg.slogdet(jacobian)[1])])


def control(channels, depth, seed):
    """The same maps, each added to both halves at once."""
    torch.manual_seed(seed)
    net, x = Reversible(channels, depth=depth, width=8).double(), torch.randn(channels).double()

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
    title="Additive couplings are inverted exactly, and keep volumes",
    equation=r"\log|\det \partial y / \partial x| = 0, \quad F^{-1}(F(x)) = x",
    source=Source("theorem", "jacobsen2018revnet"),
    premises=(Premise("one half is kept while the other is moved"),),
    parameters={"channels": 6, "depth": 10},
    judge=equals(within=1e-9, because="ten couplings in float64"),
)
