"""A convolution and a small deformation almost commute: their difference is proportional to the deformation.

    |[W, L_t]| = O(t)    for a shift with a warp, x(u + 1/2 + t sin u)                                              (1)

W is the convolution, L_t the deformation, [W, L] = W L - L W. Reference: [mallat2016understanding].
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, rate_is
from gnomon.symmetry.strength import commutator_norm


class Filter(torch.nn.Module):
    """A linear operator on signals, given by its matrix."""

    def __init__(self, matrix):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(matrix))

    def forward(self, x):
        """Returns the signals multiplied by the filter's matrix."""
        return x @ self.weight.T


def warp(n, t):
    """Returns the matrix of the deformation x(u + 1/2 + t sin u) of size t, for signals of few frequencies."""
    u = 2 * np.pi * np.arange(n) / n
    k = np.arange(-(n // 8), n // 8 + 1)
    forward = np.exp(-1j * np.outer(k, u)) / n
    return np.real(np.exp(1j * np.outer(u + 0.5 + t * np.sin(u), k)) @ forward)


def norms(matrix, n, strengths):
    """Returns the norm of the difference of both orders (filter, deformation), for each deformation size."""
    layer, out = Filter(matrix), []
    for t in strengths:
        move = torch.tensor(warp(n, t))
        out.append(commutator_norm(layer, lambda x, move=move: x @ move.T, (n,), steps=12))
    return strengths, out


def gaussian_row(n):
    """Returns a Gaussian on a circle of n points, as one row of a convolution matrix."""
    distance = np.minimum(np.arange(n), n - np.arange(n))
    row = np.exp(-(distance**2) / 8)
    return row / row.sum()


def predicted():
    """Returns 1, the exponent of the deformation's size in the norm of the difference."""
    return 1.0


def observed(n, strengths):
    """Returns the norms for a Gaussian convolution, which commutes with shifts."""
    return norms(np.stack([np.roll(gaussian_row(n), i) for i in range(n)]), n, strengths)


def control(n, strengths):
    """Returns the norms for a filter whose rows have different weights, so that not even shifts commute."""
    rows = np.stack([(1 + i / n) * np.roll(gaussian_row(n), i) for i in range(n)])
    return norms(rows, n, strengths)


CLAIM = Claim(
    id="commutator-norm",
    question="How do convolutions react to small deformations?",
    equation=r"\|[W, L_\tau]\| = O(\|\nabla\tau\|)",
    axes=("strength t of the deformation", "norm of the commutator"),
    source=Source("theorem", "mallat2016understanding"),
    premises=(
        Premise("the layer is a convolution"),
        Premise("signals have a frequency other than zero: n is at least 8", lambda n: n >= 8),
    ),
    grid={"n": (4, 8, 16, 32, 48, 64)},
    parameters={"n": 32, "strengths": (0.01, 0.02, 0.04, 0.08)},
    judge=rate_is(next_order=1.0, label="strength"),
)
