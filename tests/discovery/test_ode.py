import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gnomon.core import InputError
from gnomon.discovery import LocalPolynomialDerivative, PointwiseForm, TermLibrary, discover_implicit, discover_ode


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
        discover_ode(np.ones(40), 0.1, names=("a", "b"), library=TermLibrary(degree=1))


def test_constraints_hold_exactly_and_help_under_noise():
    """A pendulum without friction: p_t = q, q_t = -4 p, scaled so that p_t[q] = 2 and q_t[p] = -2."""
    t = np.linspace(0, 12, 500)
    clean = np.stack([np.cos(2 * t), -np.sin(2 * t)], 1)
    noisy = clean + 0.2 * np.random.default_rng(0).standard_normal(clean.shape)
    library = TermLibrary(degree=1)
    free = discover_ode(noisy, t, names=("p", "q"), library=library)
    tied = discover_ode(noisy, t, names=("p", "q"), library=library, constraints=("p_t[q] + q_t[p] = 0",))
    a, b = (tied.equations[i].coefficient(term) for i, term in ((0, "q"), (1, "p")))
    assert abs(a + b) < 1e-12 and abs(a - 2) < 0.05
    assert abs(free.equations[0].coefficient("q") + free.equations[1].coefficient("p")) > 1e-6
    given = discover_ode(noisy, t, names=("p", "q"), library=library, constraints=("p_t[q] = 2", "q_t[p] = -2"))
    assert np.isclose(given.equations[0].coefficient("q"), 2) and np.isclose(given.equations[1].coefficient("p"), -2)


def test_constraints_are_those_of_a_constrained_least_squares_problem():
    draw = np.random.default_rng(0)
    t = np.linspace(0, 10, 400)
    x = np.stack([np.cos(2 * t) + 0.3 * np.cos(t), np.sin(1.9 * t)], 1) + 0.05 * draw.standard_normal((400, 2))
    library, form = TermLibrary(only=("x", "y")), PointwiseForm(time=LocalPolynomialDerivative(8), rows=400)
    found = discover_ode(x, t, names=("x", "y"), library=library, form=form, constraints=("x_t[y] = -0.5*y_t[x]",))
    edge = int(0.05 * 400)
    a = x[edge:-edge]
    targets = [LocalPolynomialDerivative(8)(x[:, i], t[1], 1)[edge:-edge] for i in range(2)]
    size = [np.linalg.norm(y) for y in targets]
    chosen = [[("x", "y").index(term) for term in e.terms] for e in found.equations]
    blocks = [a[:, c] / s for c, s in zip(chosen, size, strict=True)]
    whole = np.zeros((2 * len(a), sum(map(len, chosen))))
    whole[: len(a), : len(chosen[0])], whole[len(a) :, len(chosen[0]) :] = blocks
    row = np.zeros(whole.shape[1])
    row[chosen[0].index(1)], row[len(chosen[0]) + chosen[1].index(0)] = 1, 0.5
    inner = np.block([[whole.T @ whole, row[:, None]], [row[None], np.zeros((1, 1))]])
    right = np.append(whole.T @ np.concatenate([y / s for y, s in zip(targets, size, strict=True)]), 0)
    by_hand = np.linalg.solve(inner, right)[:-1]
    assert np.allclose([c for e in found.equations for c in e.coefficients], by_hand, rtol=1e-8)


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        ("x_t[y] + y_t[x]", "cannot be read.*x_t.y. \\+ y_t.x. = 0"),
        ("x_t[z^9] = 0", "x_t.z\\^9. is not a coefficient of these equations"),
    ],
)
def test_constraints_that_cannot_be_read_are_refused(constraint, words):
    t = np.linspace(0, 6, 200)
    with pytest.raises(InputError, match=words):
        discover_ode(np.stack([np.cos(t), np.sin(t)], 1), t, constraints=(constraint,), library=TermLibrary(degree=1))


def test_variables_are_named_by_letters_up_to_three_and_by_numbers_above():
    from gnomon.discovery.ode import _name

    table = np.arange(12.0).reshape(3, 4)
    assert list(_name(table, None)) == ["x1", "x2", "x3", "x4"]
    named = _name(table[:, :3], None)
    assert list(named) == ["x", "y", "z"] and named["y"].tolist() == [1.0, 5.0, 9.0]
    assert list(_name(table[:, 0], None)) == ["x"] and list(_name(table[:, :2], ("a", "b"))) == ["a", "b"]
    with pytest.raises(InputError, match="a trajectory"):
        _name(table[None], None)


def test_an_implicit_law_is_fitted_away_from_the_ends():
    """Coefficients by least squares on the rows without a twentieth at each end, for the left side that was found."""
    t = np.linspace(0, 4, 203)
    x = solve_ivp(lambda t, x: -x / (1 + x), (0, 4), [3.0], t_eval=t, rtol=1e-10, atol=1e-12).y[0]
    law = discover_implicit(x, t, degree=1)
    slope = LocalPolynomialDerivative()(x, t[1], 1)
    inner = slice(10, 193)
    columns = {"1": np.ones(183), "x": x[inner], "x_t": slope[inner], "x*x_t": (x * slope)[inner]}
    a = np.stack([columns[name] for name in law.terms], 1)
    assert law.coefficients == pytest.approx(np.linalg.lstsq(a, columns[law.target], rcond=None)[0], rel=1e-9)
