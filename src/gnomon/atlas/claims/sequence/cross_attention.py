"""Attention from sequence A to sequence B does not depend on the order of B.

    y(A, P B) = y(A, B)   for every permutation P                                                             (1)

A is the sequence of the queries, B of keys and values, P a permutation, y the output.
Reference: [vaswani2017attention].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns 0, the difference between attention to a sequence and to its reverse."""
    return 0.0


def difference(place, times, size, seed):
    """Returns the largest difference between attention to a sequence and to its reverse; ``place`` adds positions."""
    torch.manual_seed(seed)
    m = torch.nn.MultiheadAttention(size, 2, batch_first=True).double()
    a, b = torch.randn(1, 3, size).double(), torch.randn(1, times, size).double()
    number = place * torch.arange(times).double()[:, None]
    with torch.no_grad():
        first, second = (m(a, c + number, c + number)[0] for c in (b, b.flip(1)))
    return float((first - second).abs().max())


observed = partial(difference, place=0.0)  # Without positions.
control = partial(difference, place=0.3)  # With positions.

CLAIM = Claim(
    id="cross-attention",
    question="Does attention to another sequence depend on its order?",
    equation=r"y(A, P B) = y(A, B)",
    axes=("one pair of sequences", "largest difference of the outputs"),
    source=Source("theorem", "vaswani2017attention"),
    premises=(Premise("keys and values do not contain their positions"),),
    parameters={"times": 6, "size": 4},
    judge=equals(within=1e-12, because="the sums are in another order, so rounding differs"),
)
