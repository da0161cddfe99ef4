"""Self-attention without position encodings is permutation equivariant: its outputs permute with its inputs.

    f(P X) = P f(X)                                                                                           (1)

X is the sequence, P a permutation of its positions, f the layer. Reference: [vaswani2017attention].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.models import sinusoidal_positions


def predicted():
    """Returns 0, the difference between attention of permuted tokens and permuted attention."""
    return 0.0


def difference(place, times, size, seed):
    """Returns the largest difference of attention to permuted inputs and permuted outputs; ``place`` adds positions."""
    torch.manual_seed(seed)
    layer = torch.nn.TransformerEncoderLayer(size, 2, 2 * size, 0.0, batch_first=True).double()
    x, order, cycle = torch.randn(1, times, size).double(), torch.arange(times), torch.randperm(times)
    order[cycle] = cycle.roll(1)  # a random cyclic permutation, which moves every position of the sequence
    p = place * sinusoidal_positions(times, size).double()
    with torch.no_grad():
        return float((layer(x[:, order] + p) - layer(x + p)[:, order]).abs().max())


observed = partial(difference, place=0.0)  # Without positions.
control = partial(difference, place=1.0)  # With sinusoidal positions.

CLAIM = Claim(
    id="attention-permutation-equivariance",
    question="What does self-attention know about the order of its inputs?",
    equation=r"f(P X) = P f(X)",
    axes=("one sequence", "largest difference of the outputs"),
    source=Source("theorem", "vaswani2017attention"),
    premises=(Premise("positions are not added"),),
    parameters={"times": 6, "size": 8},
    judge=equals(within=1e-12, because="the sums are in another order, so rounding differs"),
)
