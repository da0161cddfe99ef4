"""Prepares tables for kernel regression: checks rows and weights, and scales the columns.

    m_j = sum_i w_i x_ij / N,   s_j^2 = sum_i w_i (x_ij - m_j)^2 / N,   N = sum_i w_i              (1)
    "standard"   z_j = (x_j - m_j) / s_j                                                            (2)
    "sphere"     z sqrt(d) / |z|, the point of (2) moved to the sphere of radius sqrt(d)            (3)

A constant column has s_j = 0 up to rounding; it is centered but not divided, so it adds nothing on the training
points. A point at the origin stays there in (3).

Hypotheses: finite inputs, positive weights.
Reference: [arora2020harnessing] for inputs on a sphere, on which the kernel is a function of the angle alone.
Cost: one pass.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from sklearn.utils.validation import _check_sample_weight, validate_data
from torch import Tensor

from gnomon.core.errors import InputError, out_of_range_error
from gnomon.core.inputs.checks import as_numbers

SCALINGS = ("standard", "sphere", None)


def to_numpy(values: Any, name: str) -> Any:
    """Converts a torch tensor to a numpy array; returns anything else unchanged, for scikit-learn to check.

    >>> import torch
    >>> to_numpy(torch.ones(1, dtype=torch.bfloat16, requires_grad=True), "X")
    array([1.])
    """
    if not isinstance(values, Tensor):
        return values
    table = as_numbers(values, name).detach().cpu()
    return table.double().numpy() if table.is_floating_point() else table.numpy()


def checked_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, numeric: bool
) -> tuple[np.ndarray, Any, np.ndarray]:
    """Validates a table; returns inputs, targets and weights of all rows with positive weight."""
    X, y = to_numpy(X, "X"), to_numpy(y, "y")
    X, y = validate_data(estimator, X, y, dtype=np.float64, multi_output=numeric, y_numeric=numeric)
    weights = np.ones(len(X)) if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64)
    if (weights < 0).any():
        raise InputError("sample_weight must be zero or more, but there are negative values in sample_weight")
    kept = weights > 0
    if not kept.any():
        raise InputError("at least one sample weight must be positive, but all sample weights are zero")
    return (X, y, weights) if kept.all() else (X[kept], y[kept], weights[kept])


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """Rescales the columns of a table, with means and standard deviations of the training data.

    >>> scaling = Scaling.of(np.array([[0.0, 5.0], [2.0, 5.0]]), np.ones(2), "standard")
    >>> scaling(np.array([[4.0, 5.0]]))
    array([[3., 0.]])
    """

    mean: np.ndarray
    scale: np.ndarray
    kind: str | None

    @classmethod
    def of(cls, x: np.ndarray, weights: np.ndarray, kind: Any) -> "Scaling":
        """Computes means and standard deviations of a table's columns, for scaling.

        See equation (1) of the module docstring.
        """
        if kind not in SCALINGS:
            raise out_of_range_error("scaling", '"standard", "sphere" or None', kind)
        if kind is None:
            return cls(np.zeros(x.shape[1]), np.ones(x.shape[1]), None)
        mean, scale = moments(x, weights)
        return cls(mean, scale, kind)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Standardizes inputs; for the kind "sphere" it then also gives all rows the same norm.

        See equations (2) or (3) of the module docstring.
        """
        z = (x - self.mean) / self.scale  # (2)
        if self.kind != "sphere":
            return z
        size = np.linalg.norm(z, axis=1, keepdims=True)
        return z * np.sqrt(z.shape[1]) / np.where(size > 0, size, 1.0)  # (3)


def moments(x: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the weighted mean and standard deviation of each column; the deviation is 1 for constant columns."""
    total = weights.sum()
    mean = weights @ x / total  # (1)
    deviation = np.sqrt(weights @ (x - mean) ** 2 / total)
    rounding = 10 * np.finfo(np.float64).eps * np.abs(x).max(0)
    return mean, np.where(deviation > rounding, deviation, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class TableRows:
    """The rows of a table as tensors: scaled inputs, centered targets (n, k), and positive weights.

    >>> import torch
    >>> rows = TableRows(torch.zeros(3, 2), torch.zeros(3, 1), torch.tensor([1.0, 1.0, 2.0]))
    >>> rows.total, len(rows[torch.tensor([0, 2])])
    (4.0, 2)
    """

    x: Float[Tensor, "n d"]
    y: Float[Tensor, "n k"]
    weights: Float[Tensor, " n"]

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: Int[Tensor, " m"]) -> "TableRows":
        return TableRows(self.x[index], self.y[index], self.weights[index])

    @property
    def total(self) -> float:
        """Returns the sum of the row weights: the effective number of rows."""
        return float(self.weights.sum())

    @property
    def root(self) -> Float[Tensor, " n"]:
        """Returns the square roots of the row weights."""
        return self.weights.sqrt()

    def mean(self, values: Float[Tensor, " n"]) -> float:
        """Returns the weighted mean of non-negative values; returns 1 instead of 0, so that the result can be a
        divisor.
        """
        return float(self.weights @ values) / self.total or 1.0
