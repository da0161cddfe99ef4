"""Total variation: the result minimizes its objective, written out with trapezoids."""

import numpy as np
import pytest
from scipy.integrate import cumulative_trapezoid

from gnomon.core import InputError
from gnomon.discovery import TotalVariationDerivative


def test_the_derivative_minimizes_fit_and_variation():
    """The gradient of alpha sum sqrt(d^2 + 1e-8) + |A v - (u - u_0)|^2 / (2 h) is zero."""
    n, h, alpha = 12, 0.25, 0.05
    u = np.random.default_rng(0).standard_normal(n).cumsum()
    v = TotalVariationDerivative(alpha, 2000)(u, h, 1)
    integral = cumulative_trapezoid(np.eye(n), dx=h, axis=0, initial=0)
    rest = integral.T @ (integral @ v - (u - u[0])) / h
    steps = np.diff(v)
    slopes = alpha * steps / np.sqrt(steps**2 + 1e-8)
    variation = np.concatenate([[0.0], slopes]) - np.concatenate([slopes, [0.0]])
    np.testing.assert_allclose(rest + variation, 0.0, atol=1e-9)


def test_a_default_runs_thirty_iterations_and_higher_orders_differentiate_again():
    u = np.random.default_rng(1).standard_normal((2, 15)).cumsum(1)
    first = TotalVariationDerivative()(u[0], 0.3, 1)
    np.testing.assert_array_equal(first, TotalVariationDerivative(1e-2, 30)(u[0], 0.3, 1))
    assert np.abs(first - TotalVariationDerivative(1e-2, 29)(u[0], 0.3, 1)).max() > 1e-12
    np.testing.assert_allclose(TotalVariationDerivative()(u[0], 0.3, 2), TotalVariationDerivative()(first, 0.3, 1))
    both = TotalVariationDerivative()(u[0] + 1j * u[1], 0.3, 1)
    np.testing.assert_allclose(both.real, first)
    np.testing.assert_allclose(TotalVariationDerivative()(u, 0.3, 1, axis=1), [both.real, both.imag])
    TotalVariationDerivative()(np.arange(4.0), 1.0, 1)
    with pytest.raises(InputError, match="needs 4"):
        TotalVariationDerivative()(np.arange(3.0), 1.0, 1)


def test_one_iteration_is_one_linear_system_with_weights_of_central_differences():
    n, h, alpha = 9, 0.25, 0.05
    u = np.random.default_rng(2).standard_normal(n).cumsum()
    integral = cumulative_trapezoid(np.eye(n), dx=h, axis=0, initial=0)
    jump = np.diff(np.eye(n), axis=0)
    weight = 1 / np.sqrt(np.diff(np.gradient(u, h)) ** 2 + 1e-8)
    left = integral.T @ integral / h + alpha * jump.T @ np.diag(weight) @ jump
    expected = np.linalg.solve(left, integral.T @ (u - u[0]) / h)
    np.testing.assert_allclose(TotalVariationDerivative(alpha, 1)(u, h, 1), expected, rtol=1e-8)
