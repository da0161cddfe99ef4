"""An equivariant map of sets gives each member the same output, wherever it stands in the list.

    f(P X) = P f(X),   that is  f(X) = P^T f(P X)                                                             (1)

X is the set as a list, P a permutation. Some texts print f(X) = P f(P X), which fails for permutations that are not
their own inverse. Reference: [zaheer2017deep].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry import SetLinear


def predicted():
    """Returns 0, the difference between outputs of a permuted set and permuted outputs."""
    return 0.0


def difference(back, members, seed):
    """Returns the largest difference between a set's outputs and a shifted list's outputs, shifted ``back``."""
    torch.manual_seed(seed)
    layer, x = SetLinear(2, 3).double(), torch.randn(members, 2).double()
    with torch.no_grad():
        return float((layer(x) - layer(x.roll(1, 0)).roll(back, 0)).abs().max())


observed = partial(difference, back=-1)  # The permutation of the inputs is undone on the outputs before comparing.
control = partial(difference, back=1)  # Control: the permutation is applied to the outputs again, as some texts print.

CLAIM = Claim(
    id="set-equivariance",
    question="What does equivariance of a set map mean?",
    equation=r"f(X) = P^\top f(P X)",
    axes=("one set", "largest difference of the outputs"),
    source=Source("definition", "zaheer2017deep"),
    premises=(Premise("outputs are moved back by the inverse permutation"),),
    parameters={"members": 6},
    judge=equals(within=1e-12, because="the sums are in another order, so rounding differs"),
)
