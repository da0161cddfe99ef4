"""A map of sets to sets gives each member its output, wherever it stands.

    f(P X) = P f(X),   that is  f(X) = P^T f(P X)                                                             (1)

It is sometimes printed as f(X) = P f(P X), which fails for permutations that are not their own inverse.
Reference: [zaheer2017deep].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry import SetLinear


def predicted():
    """No difference."""
    return 0.0


def difference(back, members, seed):
    """Between f(X) and f of the members moved on by one place, moved by ``back`` places."""
    torch.manual_seed(seed)
    layer, x = SetLinear(2, 3).double(), torch.randn(members, 2).double()
    with torch.no_grad():
        return float((layer(x) - layer(x.roll(1, 0)).roll(back, 0)).abs().max())


observed = partial(difference, back=-1)  # Moved back.
control = partial(difference, back=1)  # Moved on, as it is sometimes printed.

CLAIM = Claim(
    id="set-equivariance",
    title="Outputs of members move with the members",
    equation=r"f(X) = P^\top f(P X)",
    source=Source("theorem", "zaheer2017deep"),
    premises=(Premise("outputs are moved back by the inverse permutation"),),
    parameters={"members": 6},
    judge=equals(within=1e-12, because="sums in another order"),
)
