"""A function of the sum over members of a set is the same for all orders; one of the members side by side is not.

    f(P X) = f(X)                                                                                             (1)

Reference: [zaheer2017deep].
"""

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import DeepSets


def predicted():
    """No difference."""
    return 0.0


def observed(members, seed):
    """A network of the sum."""
    torch.manual_seed(seed)
    net, x = DeepSets(2, 3).double(), torch.randn(1, members, 2).double()
    return float((net(x) - net(x.flip(1))).abs().max().detach())


def control(members, seed):
    """A network of the members side by side."""
    torch.manual_seed(seed)
    net, x = torch.nn.Linear(2 * members, 3).double(), torch.randn(1, members, 2).double()
    return float((net(x.flatten(1)) - net(x.flip(1).flatten(1))).abs().max().detach())


CLAIM = Claim(
    id="set-order-invariance",
    title="A sum over members does not depend on their order, a network of the concatenation does",
    equation=r"f(P X) = f(X)",
    source=Source("theorem", "zaheer2017deep"),
    premises=(Premise("members enter through a sum"),),
    parameters={"members": 6},
    covers=("deep-sets-invariant",),
    judge=equals(within=1e-12, because="sums in another order"),
)
