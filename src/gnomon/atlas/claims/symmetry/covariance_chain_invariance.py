"""Layers that commute with shifts, and a mean at the end: the whole does not see shifts. One dense layer spoils it.

    W_j L = L W_j and A L = A   =>   A W_J r ... W_1 L x = A W_J r ... W_1 x                                      (1)

Reference: [mallat2016understanding].
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry import equivariance, translations


def network(dense, side, seed):
    """Two circular convolutions and a mean; the second may be replaced by a dense layer."""
    torch.manual_seed(seed)
    first = nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular")
    second = nn.Conv2d(2, 2, 3, padding=1, padding_mode="circular")
    if dense:
        second = nn.Sequential(nn.Flatten(), nn.Linear(2 * side**2, 2 * side**2), nn.Unflatten(1, (2, side, side)))
    return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.AdaptiveAvgPool2d(1)).double()


def change(dense, side, seed):
    """The relative change of the output under shifts."""
    x = torch.randn(4, 1, side, side, generator=torch.Generator().manual_seed(seed)).double()
    return equivariance(network(dense, side, seed), x, translations()).output.invariance


def predicted():
    """None, equation (1)."""
    return 0.0


observed = partial(change, dense=False)  # All layers are convolutions.
control = partial(change, dense=True)  # One layer is dense.

CLAIM = Claim(
    id="covariance-chain-invariance",
    title="A chain of layers that commute with shifts, averaged at the end, does not see them",
    equation=r"\Phi L x = \Phi x",
    source=Source("theorem", "mallat2016understanding"),
    premises=(Premise("every layer commutes with shifts"),),
    parameters={"side": 6},
    judge=equals(within=1e-12, because="sums of some hundred products of numbers of size 1"),
)
