"""Differentiates samples by finite differences of any order of accuracy, one-sided near the ends.

    u^(k)(x_i) ~ sum_j w_j u(x_j) / h^k,    exact for polynomials below degree k + accuracy                     (1)

Hypotheses: noise well below h^k; noise of size s becomes noise of size about s / h^k.
Reference: [fornberg1988generation].
Cost: one banded product.

>>> x = np.linspace(0, 1, 21)
>>> bool(np.allclose(FiniteDifferenceDerivative(4)(x**3, 0.05, 2), 6 * x))
True
"""

from dataclasses import dataclass
from math import factorial

import numpy as np

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer
from gnomon.discovery.derivatives.base import AbstractDerivative, check_enough_points

__all__ = ["FiniteDifferenceDerivative"]


@dataclass(frozen=True, slots=True)
class FiniteDifferenceDerivative(AbstractDerivative):
    """Differentiates samples by finite differences of an even order of accuracy.

    See equation (1) of the module docstring.

    >>> FiniteDifferenceDerivative(2)(np.array([0.0, 1.0, 4.0, 9.0]), 1.0, 1).tolist()
    [0.0, 2.0, 4.0, 6.0]
    """

    accuracy: int = 4

    @add_call_to_errors("FiniteDifferenceDerivative(accuracy)")
    def __call__(self, u: np.ndarray, h: float, order: int, axis: int = 0) -> np.ndarray:  # noqa: D102
        accuracy = check_integer("accuracy", self.accuracy, least=1)
        half = (order + 1) // 2 + (accuracy + 1) // 2 - 1
        wide = order + accuracy  # number of points in one-sided difference formulas near the ends of the axis
        moved = np.moveaxis(u, axis, 0)
        n = len(moved)
        check_enough_points(n, max(wide, 2 * half + 1), order)
        out = np.zeros_like(moved, dtype=np.result_type(u, float))
        inner = weights(np.arange(-half, half + 1), order) / h**order
        for j, w in enumerate(inner):
            out[half : n - half] += w * moved[j : n - 2 * half + j]  # (1)
        for i in range(half):
            first = weights(np.arange(wide) - i, order) / h**order
            out[i] = np.tensordot(first, moved[:wide], 1)
            last = weights(np.arange(-wide + 1, 1) + i, order) / h**order
            out[n - 1 - i] = np.tensordot(last, moved[n - wide :], 1)
        return np.moveaxis(out, 0, axis)


def weights(offsets: np.ndarray, order: int) -> np.ndarray:
    """Returns the weights of sample points at ``offsets`` whose weighted sum is the derivative of the given order."""
    powers = np.vander(offsets.astype(float), increasing=True).T
    right = np.zeros(len(offsets))
    right[order] = factorial(order)
    return np.linalg.solve(powers, right)
