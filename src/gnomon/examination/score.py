"""What a kernel would score on labelled points, each judged by the fit to all others.

    f_{-i}(x_i) = y_i - c_i / G_ii,    G = (K + r I)^-1,    c = G y                                        (1)

The ridge r is the one of a grid with the least leave-one-out error. Reference: [rasmussen2006gaussian], 5.4.2.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.record import Record
from gnomon.linalg.shortcut import ridge_modes

RIDGES = tuple(10.0**p for p in range(-6, 2))  # of the mean diagonal


@dataclass(frozen=True, slots=True, eq=False)
class Score(Record):
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

    >>> found = leave_one_out(torch.eye(2) * 2, torch.tensor([[1.0], [-1.0]]))
    >>> [round(abs(f), 12) for f in found.predictions.flatten().tolist()]
    [0.0, 0.0]
    """
    k, y = kernel.double(), targets.double()
    offset, scale = y.mean(0), float(k.diagonal().mean()) or 1.0
    y = y - offset
    found = ridge_modes((k + k.mT) / (2 * scale), y, torch.ones(len(y), dtype=y.dtype))
    left = {ridge: found.left_out(ridge) for ridge in RIDGES}  # (1)
    best = min(RIDGES, key=lambda ridge: float(left[ridge].square().mean()))
    return Score(y - left[best] + offset, found.coefficients(best) / scale, best * scale, offset)


def right(predictions: Float[Tensor, "n k"], targets: Float[Tensor, "n k"]) -> float:
    """Share of rows whose largest entry (or sign, for one column) is that of the targets."""
    if targets.shape[1] == 1:
        return float(((predictions > 0) == (targets > 0)).double().mean())
    return float((predictions.argmax(1) == targets.argmax(1)).double().mean())
