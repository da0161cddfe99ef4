"""Predicts each point by kernel regression on all other points (leave-one-out).

    f_{-i}(x_i) = y_i - c_i / G_ii,    G = (K + r I)^-1,    c = G y                                        (1)

The targets are centered by the mean of all of them, and the ridge r is the one of a grid, in units of the mean
diagonal of K, with the least squared error of (1).

Hypotheses: squared loss; K symmetric and positive semidefinite, up to rounding.
Reference: [rasmussen2006gaussian], 5.4.2.

>>> import torch
>>> classes = torch.tensor([[1.0], [1.0], [-1.0], [-1.0]])
>>> leave_one_out(classes @ classes.T, classes).accuracy
1.0
"""

from dataclasses import dataclass, field
from math import inf

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.core.metrics import accuracy, binomial_interval, explained_variance
from gnomon.core.results import Axis, Bars, Interval, Plot, Reference, Result, Scatter
from gnomon.core.results.plain import HIDDEN_IN_JSON
from gnomon.linalg.ridge_modes import RidgeModes

__all__ = ["LeaveOneOut", "leave_one_out", "leave_one_out_of_modes"]

RIDGES = tuple(10.0**p for p in range(-6, 2))
"""Ridges to try, in units of the kernel's mean diagonal."""


@dataclass(frozen=True, slots=True, eq=False)
class LeaveOneOut(Result):
    """Leave-one-out predictions of kernel regression with the targets, the chosen ridge, and the fit to all points.

    See equation (1) of the module docstring.
    ``coefficients`` and ``offset`` belong to the fit to all points, f(x) = k(x, X) c + offset.
    """

    targets: Float[Tensor, "n k"] = field(metadata=HIDDEN_IN_JSON)
    predictions: Float[Tensor, "n k"] = field(metadata=HIDDEN_IN_JSON)
    coefficients: Float[Tensor, "n k"] = field(metadata=HIDDEN_IN_JSON)
    ridge: float
    offset: Float[Tensor, " k"]

    @property
    def error(self) -> float:
        """The leave-one-out mean squared error divided by the variance of the targets; 1 for predicting the mean."""
        return 1 - explained_variance(self.predictions, self.targets)

    @property
    def accuracy(self) -> float | None:
        """The fraction of points whose class is predicted correctly from the other points; None if targets are not
        classes.
        """
        return accuracy(self.predictions, self.targets)

    @property
    def accuracy_interval(self) -> Interval | None:
        """The 95 % interval of the leave-one-out accuracy, if points are independent."""
        n, share = len(self.targets), self.accuracy
        return None if share is None else binomial_interval(round(share * n), n)

    @property
    def verdict(self) -> str:
        """A sentence that says how well each point is predicted from the other points."""
        n, right = len(self.targets), self.accuracy
        if right is not None:
            return (
                f"Kernel regression predicts the class of {right:.1%} of {n} points, each from the other points "
                "(leave-one-out)."
            )
        return (
            f"Kernel regression explains {1 - self.error:.1%} of the variance of {n} targets, each predicted from "
            "the other points (leave-one-out)."
        )

    def plots(self) -> tuple[Plot, ...]:
        """Plots leave-one-out predictions over targets; for classes, the leave-one-out accuracy."""
        if self.accuracy is not None:
            return (
                Plot(
                    "Leave-one-out accuracy",
                    (Bars("accuracy", ("accuracy",), (self.accuracy,)),),
                    Axis("share right", limits=(0, 1)),
                ),
            )
        points = Scatter("points", self.targets.flatten(), self.predictions.flatten())
        mean = Reference("mean of the targets", float(self.targets.double().mean()))
        return (Plot("Leave-one-out predictions", (points, mean), Axis("target"), Axis("prediction")),)

    def at(self, cross: Float[Tensor, "m n"]) -> Float[Tensor, "m k"]:
        """Returns predictions at new points, from the kernel between the new points and the fitted points."""
        return cross.double() @ self.coefficients + self.offset


def leave_one_out(kernel: Float[Tensor, "n n"], targets: Float[Tensor, "n k"]) -> LeaveOneOut:
    """Predicts every point from all other points by kernel regression, with the best ridge of a grid.

    See equation (1) of the module docstring.
    Hypotheses: the kernel is symmetric and positive semidefinite, up to rounding.
    Reference: [rasmussen2006gaussian].
    Cost: 9 n^3 for one eigendecomposition, then n^2 k for each ridge.

    >>> result = leave_one_out(torch.eye(2) * 2, torch.tensor([[1.0], [-1.0]]))
    >>> [round(abs(f), 12) for f in result.predictions.flatten().tolist()]
    [0.0, 0.0]
    """
    k = kernel.double()
    eigenvalues, eigenvectors = torch.linalg.eigh((k + k.mT) / 2)
    return leave_one_out_of_modes(eigenvalues, eigenvectors, targets)


def leave_one_out_of_modes(
    eigenvalues: Float[Tensor, " n"], eigenvectors: Float[Tensor, "n n"], targets: Float[Tensor, "n k"]
) -> LeaveOneOut:
    """Computes `leave_one_out` from the eigenvalues and eigenvectors of the kernel matrix, in any order.

    Cost: n^2 k for each ridge.

    >>> modes = torch.linalg.eigh(torch.eye(2).double())
    >>> leave_one_out_of_modes(*modes, torch.tensor([[1.0], [-1.0]])).accuracy
    0.0
    """
    y = targets.double()
    # The mean eigenvalue of a kernel equals the mean of its diagonal.
    offset, scale = y.mean(0), float(eigenvalues.mean()) or 1.0
    y = y - offset
    weights = torch.ones(len(y), dtype=y.dtype)
    values = (eigenvalues.double() / scale).clamp_min(0.0)
    modes = RidgeModes(values, eigenvectors.double(), eigenvectors.double().T @ y, weights, inf)
    residuals = {ridge: modes.left_out(ridge) for ridge in RIDGES}  # (1)
    best = min(RIDGES, key=lambda ridge: float(residuals[ridge].square().mean()))
    predictions = y - residuals[best] + offset
    return LeaveOneOut(targets.double(), predictions, modes.coefficients(best) / scale, best * scale, offset)
