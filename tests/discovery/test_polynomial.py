"""Local polynomials against fits by numpy, and their choice against leaving samples out one by one."""

import numpy as np
import pytest

from gnomon.core import InputError
from gnomon.discovery import LocalPolynomialDerivative
from gnomon.discovery.derivatives.polynomial import (
    MAX_VALIDATION_LINES,
    _pairs,
    cross_validation_errors,
    sample_grid_lines,
    smoothing_window,
)


@pytest.mark.parametrize(
    ("half_width", "degree", "order", "half_used", "degree_used"),
    [(5, 4, 1, 5, 4), (5, 4, 2, 5, 4), (5, 2, 3, 5, 5), (2, 8, 1, 5, 8), (40, 3, 1, 11, 3)],
)
def test_derivatives_are_those_of_polynomials_fitted_to_windows(half_width, degree, order, half_used, degree_used):
    """On 23 points; the first and last window give the ends."""
    h, n = 0.3, 23
    u = np.random.default_rng(0).standard_normal((2, n)).cumsum(1)
    found = LocalPolynomialDerivative(half_width, degree)(u[0] + 1j * u[1], h, order)
    place = np.arange(-half_used, half_used + 1)
    for line, made in ((u[0], found.real), (u[1], found.imag)):
        for i in range(n):
            middle = min(max(i, half_used), n - 1 - half_used)
            fit = np.polynomial.Legendre.fit(place * h, line[middle + place], degree_used)
            expected = fit.deriv(order)((i - middle) * h)
            assert made[i] == pytest.approx(expected, rel=1e-6, abs=1e-6)
    np.testing.assert_allclose(LocalPolynomialDerivative(half_width, degree)(u, h, order, axis=1)[0], found.real)


def test_a_window_wider_than_an_even_number_of_points_leaves_one_out():
    """On 8 points a window of 7: a fit of degree 3 to the first or the last seven."""
    u = np.random.default_rng(0).standard_normal(8)
    found = LocalPolynomialDerivative(40, 3)(u, 1.0, 1)
    for window, ends in ((slice(0, 7), range(4)), (slice(1, 8), range(4, 8))):
        fit = np.polynomial.Polynomial.fit(np.arange(8)[window], u[window], 3).deriv()
        assert found[list(ends)] == pytest.approx(fit(np.array(list(ends))))


def test_a_degree_beyond_the_window_interpolates():
    x = np.arange(5.0)
    u = np.array([1.0, 0.0, 3.0, -2.0, 4.0])
    fit = np.polynomial.Polynomial.fit(x, u, 4)
    np.testing.assert_allclose(LocalPolynomialDerivative(4, 6)(u, 1.0, 1), fit.deriv()(x), atol=1e-9)
    np.testing.assert_allclose(LocalPolynomialDerivative(4, 6)(u[:5], 2.0, 2), fit.deriv(2)(x) / 4, atol=1e-9)


def test_short_axes_are_refused():
    LocalPolynomialDerivative(3)(np.zeros(5), 1.0, 2)
    with pytest.raises(InputError, match="needs 5"):
        LocalPolynomialDerivative(3)(np.zeros(4), 1.0, 2)


def test_errors_are_those_of_samples_left_out_of_their_windows():
    lines = np.random.default_rng(0).standard_normal((2, 66)).cumsum(1)
    errors = cross_validation_errors(lines)
    assert set(errors) == {(h, 4) for h in (3, 4, 7, 10)} | {(h, d) for d in (8, 12) for h in (7, 10)}
    for (half, degree), error in errors.items():
        place = np.delete(np.arange(-half, half + 1), half)
        design = np.polynomial.legendre.legvander(place / half, degree)
        at = np.polynomial.legendre.legvander(np.zeros(1), degree)[0]
        weights = np.linalg.lstsq(design.T, at, rcond=None)[0]  # of the other samples in the fit at the middle
        missed = [line[i] - weights @ line[i + place] for line in lines for i in range(half, 66 - half)]
        assert error == pytest.approx(np.mean(np.square(missed)), rel=1e-6)
    half, degree = smoothing_window(lines.T, 0)
    assert errors[half, degree] == min(errors.values())


def test_windows_reach_over_a_third_of_the_axis_and_over_twice_the_degree():
    fours = [3, 4, 7, 10, 15, 23, 34, 51, 77, 115, 173, 259]
    for n, most in ((1560, 12), (1553, 11), (24, 2), (23, 1)):
        assert [h for h, d in _pairs(n) if d == 4] == fours[:most]
    assert [h for h, d in _pairs(1560) if d == 8] == [7, 10, 15]
    assert [h for h, d in _pairs(1560) if d == 12] == [7, 10, 15, 23]
    assert _pairs(17) == [] and cross_validation_errors(np.zeros((1, 17))) == {}
    assert smoothing_window(np.zeros(17), 0) == (2, 4)


def test_at_most_fifty_lines_are_looked_at():
    u = np.arange(4.0)[:, None] + 10.0 * np.arange(100)
    assert sample_grid_lines(u, 0)[:, 0].tolist() == [10.0 * k for k in range(0, 100, 2)]
    assert sample_grid_lines(u[:, :99], 0).shape == (99, 4) and MAX_VALIDATION_LINES == 50
    assert sample_grid_lines(u, 1).shape == (4, 100)
    mixed = sample_grid_lines(u[:, :3] + 1j, 0)
    assert mixed[:3, 1].tolist() == [1.0, 11.0, 21.0] and (mixed[3:] == 1.0).all()
