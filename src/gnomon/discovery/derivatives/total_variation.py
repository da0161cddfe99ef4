"""Differentiates samples with total-variation regularization: derivatives may jump, but noise is not amplified.

    v = argmin_v  alpha sum_i |v_{i+1} - v_i| + (1/2) |A v - (u - u_0)|^2 / h,    A the integral (trapezoids)    (1)

Hypotheses: a derivative with few jumps; noise independent from sample to sample.
Reference: [chartrand2011numerical].
Cost: ``iterations`` linear systems of the length of the axis, for each line of the data.

>>> x = np.linspace(-1, 1, 81)
>>> v = TotalVariationDerivative(1e-3)(np.abs(x), x[1] - x[0], 1)
>>> bool(np.abs(v[:35] + 1).max() < 0.02 and np.abs(v[-35:] - 1).max() < 0.02)
True
"""

from dataclasses import dataclass

import numpy as np

from gnomon.core.errors import add_call_to_errors
from gnomon.core.inputs.checks import check_integer, check_number
from gnomon.discovery.derivatives.base import AbstractDerivative, check_enough_points

__all__ = ["TotalVariationDerivative"]

SMOOTHING_EPSILON = 1e-8
"""Added to squared differences, so that the weights stay finite."""


@dataclass(frozen=True, slots=True)
class TotalVariationDerivative(AbstractDerivative):
    """Differentiates samples with total-variation regularization; derivatives of higher order repeat this.

    See equation (1) of the module docstring.

    >>> TotalVariationDerivative(1e-2)(np.arange(9.0), 1.0, 1).round(3).tolist()[4]
    1.0
    """

    alpha: float = 1e-2
    iterations: int = 30

    @add_call_to_errors("TotalVariationDerivative(alpha)")
    def __call__(self, u: np.ndarray, h: float, order: int, axis: int = 0) -> np.ndarray:  # noqa: D102
        alpha = check_number("alpha", self.alpha, above=0)
        repeats = check_integer("iterations", self.iterations)
        check_enough_points(u.shape[axis], 4, order)
        if np.iscomplexobj(u):
            return self(u.real, h, order, axis) + 1j * self(u.imag, h, order, axis)
        for _ in range(order):
            u = np.apply_along_axis(_line, axis, u, h, alpha, repeats)
        return u


def _line(u: np.ndarray, h: float, alpha: float, repeats: int) -> np.ndarray:
    """Differentiates one line of samples with total-variation regularization, by reweighted least squares."""
    n = len(u)
    integral = np.tril(np.full((n, n), h)) - h / 2 * np.eye(n)
    integral[:, 0] -= h / 2
    integral[0] = 0
    jump = np.diff(np.eye(n), axis=0)
    fit, right = integral.T @ integral / h, integral.T @ (u - u[0]) / h
    v = np.gradient(u, h)
    for _ in range(repeats):
        weight = 1 / np.sqrt(np.diff(v) ** 2 + SMOOTHING_EPSILON)
        v = np.linalg.solve(fit + alpha * jump.T @ (weight[:, None] * jump), right)  # (1)
    return v
