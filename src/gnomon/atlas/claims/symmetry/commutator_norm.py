"""A convolution almost commutes with small deformations: the commutator grows in proportion to them.

    |[W, L_t]| = O(t)    for a shift with a warp, x(u + 1/2 + t sin u)                                              (1)

Reference: [mallat2016understanding].
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, rate_is
from gnomon.symmetry.strength import commutator_norm


class Filter(torch.nn.Module):
    """A circular operator on signals, by its matrix."""

    def __init__(self, matrix):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(matrix))

    def forward(self, x):
        """Multiply."""
        return x @ self.weight.T


def warp(n, t):
    """The matrix of x(u + 1/2 + t sin u) for signals of few frequencies, by their Fourier series."""
    u = 2 * np.pi * np.arange(n) / n
    k = np.arange(-(n // 8), n // 8 + 1)
    forward = np.exp(-1j * np.outer(k, u)) / n
    return np.real(np.exp(1j * np.outer(u + 0.5 + t * np.sin(u), k)) @ forward)


def norms(matrix, n, strengths):
    """The norm of the commutator at each strength."""
    layer, out = Filter(matrix), []
    for t in strengths:
        move = torch.tensor(warp(n, t))
        out.append(commutator_norm(layer, lambda x, move=move: x @ move.T, (n,), steps=12))
    return strengths, out


def smooth(n):
    """A Gaussian row, periodic."""
    distance = np.minimum(np.arange(n), n - np.arange(n))
    row = np.exp(-(distance**2) / 8)
    return row / row.sum()


def predicted():
    """Slope one, equation (1)."""
    return 1.0


def observed(n, strengths):
    """A Gaussian filter: it commutes with the shift by 1/2, and nearly with the rest."""
    return norms(np.stack([np.roll(smooth(n), i) for i in range(n)]), n, strengths)


def control(n, strengths):
    """The same rows, each weighted otherwise: no convolution, and the shift alone does not commute."""
    rows = np.stack([(1 + i / n) * np.roll(smooth(n), i) for i in range(n)])
    return norms(rows, n, strengths)


CLAIM = Claim(
    id="commutator-norm",
    title="The commutator of a convolution with a deformation is proportional to the deformation",
    equation=r"\|[W, L_\tau]\| = O(\|\nabla\tau\|)",
    source=Source("theorem", "mallat2016understanding"),
    premises=(Premise("the layer is a convolution"),),
    parameters={"n": 32, "strengths": (0.01, 0.02, 0.04, 0.08)},
    judge=rate_is(next_order=1.0, label="strength"),
)
