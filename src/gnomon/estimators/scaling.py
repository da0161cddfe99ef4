"""Inputs on one scale, by weighted means and standard deviations.

    m_j = sum_i w_i x_ij / N,   s_j^2 = sum_i w_i (x_ij - m_j)^2 / N,   N = sum_i w_i              (1)
    "standard"   z_j = (x_j - m_j) / s_j                                                            (2)
    "sphere"     z sqrt(d) / |z|, the point of (2) moved to the sphere of radius sqrt(d)            (3)

A constant column has s_j = 0 up to rounding; it is centered and left at its size, so that it adds nothing on the
training points. A point at the origin stays there in (3).

Hypotheses: finite inputs, positive weights.
Reference: [arora2020harnessing] for inputs on a sphere, where the kernel is a function of the angle alone.
Cost: one pass.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gnomon.core.errors import InputError, lesson

SCALINGS = ("standard", "sphere", None)


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """A fitted scaling; ``kind`` is one of SCALINGS.

    >>> found = Scaling.of(np.array([[0.0, 5.0], [2.0, 5.0]]), np.ones(2), "standard", "fit")
    >>> found(np.array([[4.0, 5.0]]))
    array([[3., 0.]])
    """

    mean: np.ndarray
    scale: np.ndarray
    kind: str | None

    @classmethod
    def of(cls, x: np.ndarray, weights: np.ndarray, kind: Any, call: str) -> "Scaling":
        """Means and scales of a table, equation (1)."""
        if kind not in SCALINGS:
            cure = 'Pass "standard", "sphere", or None to take the inputs as they are'
            raise InputError(lesson(call, f"scaling is {kind!r}", "a known scaling", cure))
        if kind is None:
            return cls(np.zeros(x.shape[1]), np.ones(x.shape[1]), None)
        mean, scale = moments(x, weights)
        return cls(mean, scale, kind)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Equation (2) or (3)."""
        z = (x - self.mean) / self.scale  # (2)
        if self.kind != "sphere":
            return z
        size = np.linalg.norm(z, axis=1, keepdims=True)
        return z * np.sqrt(z.shape[1]) / np.where(size > 0, size, 1.0)  # (3)


def moments(x: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weighted mean and standard deviation of each column, one for columns that are constant up to rounding."""
    total = weights.sum()
    mean = weights @ x / total  # (1)
    spread = np.sqrt(weights @ (x - mean) ** 2 / total)
    rounding = 10 * np.finfo(np.float64).eps * np.abs(x).max(0)
    return mean, np.where(spread > rounding, spread, 1.0)
