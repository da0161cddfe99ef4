"""Spectral derivatives of sums of waves, with and without the highest frequencies."""

import numpy as np
import pytest

from gnomon.core import InputError
from gnomon.discovery import SpectralDerivative


@pytest.mark.parametrize("n", [15, 16])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("keep", [1.0, 0.5])
def test_waves_up_to_the_share_that_is_kept_are_differentiated_exactly(n, order, keep):
    x = np.arange(n) * 0.3
    k = 2 * np.pi / (n * 0.3)
    sizes = {1: 1.0 - 0.5j, 3: 0.7j, 4: -0.4, 5: 2.0, 7: 0.3, -2: 1.5, -6: 0.8}
    u = sum(a * np.exp(1j * m * k * x) for m, a in sizes.items())
    top = n // 2
    exact = sum(a * (1j * m * k) ** order * np.exp(1j * m * k * x) for m, a in sizes.items() if abs(m) <= keep * top)
    np.testing.assert_allclose(SpectralDerivative(keep)(u, 0.3, order), exact, atol=1e-10 * k**order * 7**order)
    both = SpectralDerivative(keep)(np.stack([u.real, u.imag], 1), 0.3, order)
    np.testing.assert_allclose(both[:, 0] + 1j * both[:, 1], exact, atol=1e-10 * k**order * 7**order)


def test_the_highest_frequency_has_even_derivatives_only():
    u = (-1.0) ** np.arange(8)
    np.testing.assert_allclose(SpectralDerivative()(u, 0.5, 2), -((np.pi / 0.5) ** 2) * u, rtol=1e-12)
    np.testing.assert_allclose(SpectralDerivative()(u, 0.5, 1), 0.0, atol=1e-12)
    np.testing.assert_allclose(SpectralDerivative()(np.exp(1j * np.pi * np.arange(8)), 0.5, 3), 0.0, atol=1e-10)


def test_a_derivative_needs_two_points_more_for_each_order():
    SpectralDerivative()(np.zeros(7), 1.0, 3)
    with pytest.raises(InputError, match="needs 7"):
        SpectralDerivative()(np.zeros(6), 1.0, 3)
