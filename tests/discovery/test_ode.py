import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gnomon.core import InputError
from gnomon.discovery import Library, discover_implicit, discover_ode


def lorenz(n=2000):
    t = np.linspace(0, 20, n)
    right = lambda t, s: [10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]]  # noqa: E731
    return t, solve_ivp(right, (0, 20), [-8.0, 8.0, 27.0], t_eval=t, rtol=1e-9, atol=1e-9).y.T


@pytest.mark.parametrize("noise, tolerance", [(0.0, 1e-3), (0.01, 0.05), (0.05, 0.15)])
def test_the_lorenz_system(noise, tolerance):
    t, x = lorenz()
    x = x + noise * x.std(0) * np.random.default_rng(0).standard_normal(x.shape)
    found = discover_ode(x, t)
    truth = [{"x": -10.0, "y": 10.0}, {"x": 28.0, "y": -1.0, "x*z": -1.0}, {"x*y": 1.0, "z": -8 / 3}]
    for equation, law in zip(found.equations, truth, strict=True):
        assert set(equation.terms) == set(law)
        assert all(abs(equation.coefficient(term) - c) < tolerance * abs(c) for term, c in law.items())


def test_an_implicit_law_of_enzymes():
    t = np.linspace(0, 6, 600)
    x = solve_ivp(lambda t, x: 0.6 - 1.5 * x / (0.3 + x), (0, 6), [2.0], t_eval=t, rtol=1e-10, atol=1e-12).y[0]
    law = discover_implicit(x, t, degree=1)
    assert {law.target, *law.terms} == {"1", "x", "x_t", "x*x_t"}
    full = {law.target: -1.0} | dict(zip(law.terms, law.coefficients, strict=True))  # sum = 0, up to a factor
    scale = full["x*x_t"]
    assert {k: round(v / scale, 2) for k, v in full.items()} == {"1": -0.18, "x": 0.9, "x_t": 0.3, "x*x_t": 1.0}


def test_names_must_fit():
    with pytest.raises(InputError, match="2 names and 1 variables"):
        discover_ode(np.ones(40), 0.1, names=("a", "b"), library=Library(degree=1))
