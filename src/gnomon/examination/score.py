"""What a kernel would score on labelled points, each judged by the fit to all others.

    f_{-i}(x_i) = y_i - c_i / G_ii,    G = (K + r I)^-1,    c = G y                                        (1)

The ridge r is the one of a grid with the least leave-one-out error. Reference: [rasmussen2006gaussian], 5.4.2.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

RIDGES = tuple(10.0**p for p in range(-6, 2))  # of the mean diagonal


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """Leave-one-out predictions, the ridge that was chosen, and the coefficients of the fit to all points."""

    predictions: Float[Tensor, "n k"]
    coefficients: Float[Tensor, "n k"]
    ridge: float
    offset: Float[Tensor, " k"]

    def error(self, targets: Float[Tensor, "n k"]) -> float:
        """Mean squared error over the variance of the targets: 1 is what their mean would score."""
        return float(
            (self.predictions - targets).square().mean() / targets.var(0, correction=0).mean().clamp(min=1e-30)
        )

    def accuracy(self, targets: Float[Tensor, "n k"]) -> float:
        """Share of examples whose class is right; the sign where there is one output."""
        return right(self.predictions, targets)

    def at(self, cross: Float[Tensor, "m n"]) -> Float[Tensor, "m k"]:
        """Predictions at other points, from their kernel with these."""
        return cross.double() @ self.coefficients + self.offset


def leave_one_out(kernel: Float[Tensor, "n n"], targets: Float[Tensor, "n k"]) -> Score:
    """Equation (1) for every ridge of the grid, from one eigendecomposition; the best is kept.

    Hypotheses: the kernel is symmetric and not negative, up to rounding.
    Cost: 9 n^3, then n^2 k for each ridge.

    >>> leave_one_out(torch.eye(2) * 2, torch.tensor([[1.0], [-1.0]])).predictions.flatten().tolist()
    [0.0, 0.0]
    """
    k, y = kernel.double(), targets.double()
    offset = y.mean(0)
    y = y - offset
    values, vectors = torch.linalg.eigh((k + k.mT) / 2)
    values, along = values.clamp(min=0), vectors.mT @ y
    best: Score | None = None
    least = float("inf")
    for relative in RIDGES:
        ridge = relative * float(values.mean()) + 1e-300
        inverse = 1 / (values + ridge)
        c = vectors @ (inverse[:, None] * along)
        diagonal = (vectors.square() * inverse).sum(1)
        left = y - c / diagonal[:, None]  # (1)
        error = float((left - y).square().mean())
        if error < least or best is None:
            least, best = error, Score(left + offset, c, ridge, offset)
    assert best is not None  # the grid is not empty
    return best


def right(predictions: Float[Tensor, "n k"], targets: Float[Tensor, "n k"]) -> float:
    """Share of rows whose largest entry (or sign, for one column) is that of the targets."""
    if targets.shape[1] == 1:
        return float(((predictions > 0) == (targets > 0)).double().mean())
    return float((predictions.argmax(1) == targets.argmax(1)).double().mean())
