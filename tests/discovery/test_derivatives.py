import numpy as np
import pytest

from gnomon.core import InputError
from gnomon.discovery import (
    FiniteDifferenceDerivative,
    LocalPolynomialDerivative,
    SpectralDerivative,
    TotalVariationDerivative,
)


@pytest.mark.parametrize(("accuracy", "order"), [(a, k) for a in (2, 4, 6) for k in (1, 2, 3, 4) if a + k < 10])
def test_finite_differences_converge_at_their_order(accuracy, order):
    errors = []
    steps = (12, 24) if order + accuracy < 8 else (16, 24)  # finer grids meet rounding, eps / h^order
    for n in steps:
        x = np.linspace(0, 2, n + 1)
        exact = np.real((1j**order) * np.exp(1j * x))
        errors.append(np.abs(FiniteDifferenceDerivative(accuracy)(np.cos(x), x[1], order) - exact).max())
    assert (
        np.log(errors[0] / errors[1]) / np.log(steps[1] / steps[0]) > accuracy - 0.4
    )  # one-sided ends set the rate; 0.4: not yet asymptotic


def test_spectral_derivative_of_waves_is_exact_also_for_complex_fields_and_other_axes():
    x = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    u = np.stack([np.exp(3j * x), np.exp(-2j * x)])
    found = SpectralDerivative()(u, x[1], 2, axis=1)
    assert np.allclose(found, np.stack([-9 * u[0], -4 * u[1]]))


def test_local_polynomials_follow_the_field_and_not_the_noise():
    x = np.linspace(0, 10, 500)
    noisy = np.sin(x) + 0.05 * np.random.default_rng(0).standard_normal(500)
    errors = [
        np.abs(rule(noisy, x[1], 1) - np.cos(x))[20:-20].mean()
        for rule in (LocalPolynomialDerivative(), FiniteDifferenceDerivative(2))
    ]
    assert errors[0] < 0.05 < 1 < errors[1]


def test_total_variation_finds_a_jump_under_noise():
    x = np.linspace(-1, 1, 101)
    noisy = np.abs(x) + 0.01 * np.random.default_rng(0).standard_normal(101)
    slope = TotalVariationDerivative(0.05)(noisy, x[1] - x[0], 1)
    assert abs(slope[10:40].mean() + 1) < 0.05 and abs(slope[60:90].mean() - 1) < 0.05
    assert (
        np.abs(FiniteDifferenceDerivative(2)(noisy, x[1] - x[0], 1)[10:40] + 1).mean()
        > 5 * np.abs(slope[10:40] + 1).mean()
    )


def test_too_few_points_are_named():
    with pytest.raises(InputError, match="5 points along an axis, and a derivative of order 4 needs 8"):
        FiniteDifferenceDerivative(4)(np.zeros(5), 1.0, 4)
