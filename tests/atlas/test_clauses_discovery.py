"""Clauses of the scope on the discovery of equations that no claim measures; the ledger names these tests."""

import numpy as np
import pytest

from gnomon.data import fields
from gnomon.discovery import (
    FiniteDifferenceDerivative,
    LocalPolynomialDerivative,
    PointwiseForm,
    SpectralDerivative,
    TermLibrary,
    discover,
    pde_residual,
)


def mean_error(run, form, noise=0.0):
    """Mean relative error of the coefficients of a simulated law, with its terms given."""
    law, u = run.law["u"], run.fields["u"]
    u = u + noise * u.std() * np.random.default_rng(0).standard_normal(u.shape)
    found = discover(u, run.dx, run.dt, library=TermLibrary(only=list(law)), form=form).equations[0]
    return np.mean([abs(found.coefficient(term) - c) / abs(c) for term, c in law.items()])


def test_pointwise_differences_find_burgers_equation_to_three_tenths_of_a_percent():
    """pde-find-burgers: mean error <= 0.3 % from 256 points of [-8, 8] and 101 times to 10, second differences."""
    form = PointwiseForm(space=FiniteDifferenceDerivative(2), time=FiniteDifferenceDerivative(2))
    assert mean_error(fields.burgers(256, 101), form) <= 0.003


def test_pointwise_differences_find_the_equation_of_solitons_on_the_published_grid():
    """pde-find-kdv: mean error <= 1 % from 512 points of [-30, 30] and 201 times to 20, second differences."""
    run = fields.two_solitons(512, 201)
    assert run.dx == (60 / 512,) and run.dt == pytest.approx(0.1)
    form = PointwiseForm(space=FiniteDifferenceDerivative(2), time=FiniteDifferenceDerivative(2))
    assert mean_error(run, form) <= 0.01


def test_spectral_derivatives_find_the_equation_of_kuramoto_and_sivashinsky_in_clean_data():
    """pde-find-kuramoto-sivashinsky: clean error <= 5 % with spectral derivatives in space."""
    form = PointwiseForm(space=SpectralDerivative(), time=FiniteDifferenceDerivative(4))
    assert mean_error(fields.kuramoto_sivashinsky(), form) <= 0.05


@pytest.mark.full
def test_polynomials_keep_coefficients_of_noisy_data_that_differences_lose():
    """pde-find-method: with 1 % noise local polynomials have an error of at most 5 %, differences five times that."""
    run = fields.burgers(256, 101)
    smooth = mean_error(run, PointwiseForm(space=LocalPolynomialDerivative(8), time=LocalPolynomialDerivative(4)), 0.01)
    rough = mean_error(
        run, PointwiseForm(space=FiniteDifferenceDerivative(2), time=FiniteDifferenceDerivative(2)), 0.01
    )
    assert smooth <= 0.05 and rough >= 5 * smooth


@pytest.mark.parametrize("axis", [0, 1])
def test_both_components_of_momentum_with_density_and_gravity(axis):
    """navier-stokes-equations: rho (V_t + (V . grad) V) = -grad p + rho g + mu lap V, Taylor-Green, residual <= 1e-9."""
    rho, gravity, mu = 1.7, 9.8, 0.17
    x, t = np.linspace(0, 2 * np.pi, 24, endpoint=False), np.linspace(0, 0.1, 25)
    a, b, c = x[:, None, None], x[None, :, None], np.exp(-2 * mu / rho * t)
    flow = {"u": np.cos(a) * np.sin(b) * c, "v": -np.sin(a) * np.cos(b) * c}
    flow["p"] = (
        -rho * (np.cos(2 * a) + np.cos(2 * b)) * c**2 / 4
    )  # without the weight rho g y of the fluid, which is not periodic
    name, along = ("u", "v")[axis], "xy"[axis]
    left = f"{rho}*{name}_t + {rho}*u*{name}_x + {rho}*v*{name}_y"
    right = f"-1*p_{along} + {mu}*{name}_xx + {mu}*{name}_yy"
    assert pde_residual(flow, (x[1], x[1]), t, f"{left} = {right}", space=SpectralDerivative()).relative <= 1e-9
    weight = f" + {rho * gravity}"  # the pressure of the weight cancels gravity exactly
    whole = f"{left} = {right}{weight} + {-rho * gravity}"
    assert pde_residual(flow, (x[1], x[1]), t, whole, space=SpectralDerivative()).relative <= 1e-9
    assert pde_residual(flow, (x[1], x[1]), t, f"{left} = {right}{weight}", space=SpectralDerivative()).relative > 0.1


def test_the_substitution_makes_the_equation_separable():
    """separable-ode-transformation: r = y / x, s = -1 / x: ds/dr = 1 / r^2 and s = -1 / r + C; y' = 1.0369782 as printed."""
    for c in (0.7, -0.2, 2.0):
        x = np.linspace(1.0, 3.0, 2001)
        y = x**2 / (1 + c * x)
        r, s = y / x, -1 / x
        assert np.ptp(s + 1 / r) < 1e-12 and (s + 1 / r)[0] == pytest.approx(c)
        slope = np.gradient(s, r, edge_order=2)
        np.testing.assert_allclose(slope[1:-1], 1 / r[1:-1] ** 2, rtol=1e-5)
        np.testing.assert_allclose(np.gradient(y, x, edge_order=2)[1:-1], (y / x + y**2 / x**3)[1:-1], rtol=1e-5)
