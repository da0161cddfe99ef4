"""If all layers commute with shifts and the output is a mean over positions, shifting the input changes nothing.

    W_j L = L W_j and A L = A   =>   A W_J r ... W_1 L x = A W_J r ... W_1 x                                      (1)

W_j are the layers, r is the activation, A the mean, L a shift, x the input. One dense layer destroys the invariance.
Reference: [mallat2016understanding].
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry import equivariance, translations


def network(dense, side, seed):
    """Returns two circular convolutions and a mean; ``dense`` replaces the second one by a dense layer."""
    torch.manual_seed(seed)
    first = nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular")
    second = nn.Conv2d(2, 2, 3, padding=1, padding_mode="circular")
    if dense:
        second = nn.Sequential(nn.Flatten(), nn.Linear(2 * side**2, 2 * side**2), nn.Unflatten(1, (2, side, side)))
    return nn.Sequential(first, nn.ReLU(), second, nn.ReLU(), nn.AdaptiveAvgPool2d(1)).double()


def change(dense, side, seed):
    """Returns the relative change of the network's output under shifts of the input."""
    x = torch.randn(4, 1, side, side, generator=torch.Generator().manual_seed(seed)).double()
    return equivariance(network(dense, side, seed), x, translations()).output.invariance


def predicted():
    """Returns 0, the change of the network's output under shifts of the input."""
    return 0.0


observed = partial(change, dense=False)  # All layers are convolutions, which commute with shifts.
control = partial(change, dense=True)  # Control: one layer is dense, so it does not commute with shifts.

CLAIM = Claim(
    id="covariance-chain-invariance",
    question="How is an invariant network built from layers?",
    equation=r"\Phi L x = \Phi x",
    axes=("one network", "relative change under shifts"),
    source=Source("theorem", "mallat2016understanding"),
    premises=(Premise("every layer commutes with shifts"),),
    parameters={"side": 6},
    judge=equals(within=1e-12, because="rounding of a few hundred products of numbers of size 1"),
)
