"""Self-attention without positions commutes with every permutation of the sequence: outputs permute with inputs.

    f(P X) = P f(X)                                                                                           (1)

Reference: [vaswani2017attention].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import sinusoidal_positions


def predicted():
    """No difference."""
    return 0.0


def difference(place, times, size, seed):
    """Between the output in another order and the output of that order."""
    torch.manual_seed(seed)
    layer = torch.nn.TransformerEncoderLayer(size, 2, 2 * size, 0.0, batch_first=True).double()
    x, order, cycle = torch.randn(1, times, size).double(), torch.arange(times), torch.randperm(times)
    order[cycle] = cycle.roll(1)  # a random one that leaves nothing in place
    p = place * sinusoidal_positions(times, size).double()
    with torch.no_grad():
        return float((layer(x[:, order] + p) - layer(x + p)[:, order]).abs().max())


observed = partial(difference, place=0.0)  # Without positions.
control = partial(difference, place=1.0)  # With sinusoidal positions.

CLAIM = Claim(
    id="attention-permutation-equivariance",
    title="Self-attention of a sequence in another order is its output in that order",
    equation=r"f(P X) = P f(X)",
    source=Source("theorem", "vaswani2017attention"),
    premises=(Premise("positions are not told"),),
    parameters={"times": 6, "size": 8},
    judge=equals(within=1e-12, because="sums in another order"),
)
