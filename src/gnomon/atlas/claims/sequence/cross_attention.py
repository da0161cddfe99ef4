"""Queries of one sequence attend to keys and values of another, whose order does not count.

    y(A, P B) = y(A, B)   for every permutation P                                                             (1)

Reference: [vaswani2017attention].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """No difference."""
    return 0.0


def difference(place, times, size, seed):
    """Between attention to a sequence and to the same in another order; ``place`` adds its number to each row."""
    torch.manual_seed(seed)
    m = torch.nn.MultiheadAttention(size, 2, batch_first=True).double()
    a, b = torch.randn(1, 3, size).double(), torch.randn(1, times, size).double()
    number = place * torch.arange(times).double()[:, None]
    with torch.no_grad():
        first, second = (m(a, c + number, c + number)[0] for c in (b, b.flip(1)))
    return float((first - second).abs().max())


observed = partial(difference, place=0.0)  # Rows as they are.
control = partial(difference, place=0.3)  # Rows with their place.

CLAIM = Claim(
    id="cross-attention",
    title="Attention to another sequence does not depend on its order",
    equation=r"y(A, P B) = y(A, B)",
    source=Source("theorem", "vaswani2017attention"),
    premises=(Premise("keys and values do not know their place"),),
    parameters={"times": 6, "size": 4},
    judge=equals(within=1e-12, because="sums in another order"),
)
