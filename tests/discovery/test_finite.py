"""Finite differences are exact for polynomials below the number of points of their formulas, also at the ends."""

import numpy as np
import pytest

from gnomon.core import InputError
from gnomon.discovery import FiniteDifferenceDerivative


@pytest.mark.parametrize("accuracy", [1, 2, 3, 4, 5, 6])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_polynomials_below_the_number_of_points_are_differentiated_exactly(accuracy, order):
    half = (order + 1) // 2 + (accuracy + 1) // 2 - 1
    least = max(order + accuracy, 2 * half + 1)
    coefficients = np.random.default_rng(0).uniform(0.5, 1.5, order + accuracy)
    curve = np.polynomial.Polynomial(coefficients)
    for n in (least, least + 3):
        x = 0.4 * np.arange(n)
        u = np.stack([curve(x), -2j * curve(x)])
        found = FiniteDifferenceDerivative(accuracy)(u, 0.4, order, axis=1)
        exact = curve.deriv(order)(x)
        np.testing.assert_allclose(found, np.stack([exact, -2j * exact]), rtol=1e-6, atol=1e-6 * np.abs(exact).max())
    with pytest.raises(InputError, match=f"needs {least}"):
        FiniteDifferenceDerivative(accuracy)(u[:, : least - 1], 0.4, order, axis=1)
    assert FiniteDifferenceDerivative() == FiniteDifferenceDerivative(4)
