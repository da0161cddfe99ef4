"""The rule with the smallest error of left-out samples: truncated Fourier series against local polynomials."""

import numpy as np
import pytest

from gnomon.discovery import LocalPolynomialDerivative, SpectralDerivative
from gnomon.discovery.derivatives import best_derivative_rule
from gnomon.discovery.derivatives.polynomial import cross_validation_errors


def expected_rule(lines):
    """Series with 2 k + 1 waves leave (1 - (2 k + 1) / n) of the square of a sample's own weight."""
    n = lines.shape[1]
    errors = {}
    for k in range(max(1, n // 12), (n - 1) // 2):
        waves = np.fft.fft(lines, axis=1)
        waves[:, np.abs(np.fft.fftfreq(n)) * n > k + 0.25] = 0.0
        rest = lines - np.fft.ifft(waves, axis=1).real
        errors[k] = (np.mean(rest**2) + 1e-28 * np.mean(lines**2)) / (1 - (2 * k + 1) / n) ** 2
    best = min(errors, key=errors.get)
    local = cross_validation_errors(lines)
    if local and min(local.values()) <= errors[best]:
        return LocalPolynomialDerivative(*min(local, key=local.get))
    return SpectralDerivative((best + 0.5) / (n / 2))


@pytest.mark.parametrize("n", [16, 48, 49, 72])
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("periodic", [True, False])
def test_the_rule_is_the_one_with_the_smallest_error(n, noise, periodic):
    rng = np.random.default_rng(n)
    x = np.arange(n) / n
    waves = rng.standard_normal((3, n)) * np.exp(-0.5 * np.arange(n))
    u = sum(waves[:, k, None] * np.cos(2 * np.pi * k * x + k) for k in range(1, n // 2))
    u = u + noise * rng.standard_normal(u.shape) + (0.0 if periodic else 3.0 * x)
    found, expected = best_derivative_rule(u, 1), expected_rule(u)
    assert type(found) is type(expected)
    if isinstance(found, SpectralDerivative):
        assert found.keep == pytest.approx(expected.keep)
    else:
        assert found == expected


def test_the_highest_wave_of_an_even_number_of_points_is_counted_once():
    """Two waves below and one at the highest frequency: dropping it costs its own square, not twice that."""
    n = 12  # too short for local polynomials
    x = np.arange(n)
    for size in (0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.7, 1.0):
        u = (np.cos(2 * np.pi * x / n) + size * (-1.0) ** x + 0.3 * np.cos(2 * np.pi * 4 * x / n))[None]
        assert best_derivative_rule(u, 1).keep == pytest.approx(expected_rule(u).keep)
