"""A function of the sum over a set's members ignores their order; a function of the list of members does not.

    f(P X) = f(X)                                                                                             (1)

X is the set as a list, P a permutation. Reference: [zaheer2017deep].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import DeepSets


def predicted():
    """Returns 0, the difference between outputs for two orders of a set."""
    return 0.0


def difference(network, members, seed):
    """Returns the largest output change of a network if the members are reversed."""
    torch.manual_seed(seed)
    net, x = network(members).double(), torch.randn(1, members, 2).double()
    return float((net(x) - net(x.flip(1))).abs().max().detach())


observed = partial(difference, network=lambda _: DeepSets(2, 3))  # The network gets the sum over all members.
# Control: the network gets the members concatenated in the order of the list.
control = partial(difference, network=lambda m: torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(2 * m, 3)))

CLAIM = Claim(
    id="set-order-invariance",
    question="How can a network ignore the order of its inputs?",
    equation=r"f(P X) = f(X)",
    axes=("one set", "largest difference of the outputs"),
    source=Source("theorem", "zaheer2017deep"),
    premises=(Premise("members enter through a sum"),),
    parameters={"members": 6},
    covers=("deep-sets-invariant",),
    judge=equals(within=1e-12, because="the sums are in another order, so rounding differs"),
)
