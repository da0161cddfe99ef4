"""Constraints: reading them, complex coefficients, contradictions, and the spread over replicates."""

import numpy as np
import pytest
from scipy.linalg import null_space

from gnomon.core import InputError
from gnomon.discovery import TermSelection
from gnomon.discovery.constrained import fit_with_constraints, parse_constraint
from gnomon.discovery.equation import Equation, Residuals
from gnomon.discovery.forms.base import RegressionSystem
from gnomon.discovery.term import parse_term


@pytest.mark.parametrize(
    ("text", "weights", "constant"),
    [
        ("u_t[u] = 3", {("u_t", "u"): 1.0}, 3.0),
        ("2*u_t[u] - 0.5 v_t[v] + 1 = 4", {("u_t", "u"): 2.0, ("v_t", "v"): -0.5}, 3.0),
        ("-u_t[u] = 1.5e1*u_t[v*u_x] - 2", {("u_t", "u"): -1.0, ("u_t", "v*u_x"): -15.0}, -2.0),
        ("u_t[u] = 2*u_t[u]", {("u_t", "u"): -1.0}, 0.0),
    ],
)
def test_relations_are_read_with_weights_and_constants_on_both_sides(text, weights, constant):
    found = parse_constraint(text.replace("0.5 v", "0.5v"))
    assert found == (weights, constant)


def plain(target, *terms):
    return Equation(target, terms, (0.0,) * len(terms), (0.0,) * len(terms), {}, (), Residuals(0.5, 0.4, "", 0.1))


def problem(complex_numbers=False):
    rng = np.random.default_rng(0)
    systems = []
    for k in range(2):
        a = rng.standard_normal((24, 3)) + (1j * rng.standard_normal((24, 3)) if complex_numbers else 0)
        y = a @ np.array([[1.0, 0.5, -2.0], [-1.5, 0.3, 0.0]][k]) * (1 + 40 * k) + rng.standard_normal(24)
        systems.append(RegressionSystem(a, y, np.arange(24) // 4, 24.0))
    return systems, [(parse_term(t),) for t in ("u", "v", "u^2")]


def solved(systems, times=None):
    """Least squares of relative residuals for u_t[u, v, u^2], v_t[u, v] with u_t[u] + 2 v_t[v] = 1 and v_t[u] = -3."""
    rows, right = [], []
    for k, (system, own) in enumerate(zip(systems, ([0, 1, 2], [0, 1]), strict=True)):
        size = np.linalg.norm(system.target)
        root = np.ones(24) if times is None else np.sqrt(times[system.blocks])
        block = np.zeros((24, 5), dtype=system.columns.dtype)
        block[:, 3 * k : 3 * k + len(own)] = system.columns[:, own] / size
        rows.append(root[:, None] * block)
        right.append(root * system.target / size)
    a, y = np.concatenate(rows), np.concatenate(right)
    c, d = np.array([[1.0, 0, 0, 0, 2.0], [0, 0, 0, 1.0, 0]]), np.array([1.0, -3.0])
    start, free = np.linalg.lstsq(c, d, rcond=None)[0], null_space(c)
    return start + free @ np.linalg.lstsq(a @ free, y - a @ start, rcond=None)[0]


TEXTS = ("u_t[u] + 2*v_t[v] = 1", "v_t[u] = -3")


@pytest.mark.parametrize("complex_numbers", [False, True])
def test_coefficients_solve_least_squares_under_the_relations(complex_numbers):
    systems, groups = problem(complex_numbers)
    first, second = fit_with_constraints(
        [plain("u_t", "u", "v", "u^2"), plain("v_t", "u")], systems, groups, TEXTS, TermSelection(draws=7, seed=3)
    )
    best = solved(systems)
    assert first.terms == ("u", "v", "u^2") and second.terms == ("u", "v")
    np.testing.assert_allclose([*first.coefficients, *second.coefficients], best, rtol=1e-8)
    assert all(isinstance(c, complex if complex_numbers else float) for c in first.coefficients)
    rng = np.random.default_rng(3)
    made = []
    for _ in range(7):
        made.append(solved(systems, np.bincount(rng.integers(6, size=6), minlength=6).astype(float)))
    np.testing.assert_allclose([*first.errors, *second.errors], np.std(made, axis=0), rtol=1e-6, atol=1e-12)
    selection = TermSelection(draws=7, seed=-3)  # the sign of a seed does not matter
    equations = [plain("u_t", "u", "v", "u^2"), plain("v_t", "u")]
    assert fit_with_constraints(equations, systems, groups, TEXTS, selection)[0].errors == first.errors
    rest = systems[1].columns[:, :2] @ best[3:] - systems[1].target
    assert second.residuals.misfit == pytest.approx(np.linalg.norm(rest) / np.linalg.norm(systems[1].target))
    assert second.residuals.held_out == 0.4


def test_contradictions_are_refused_relative_to_the_constants():
    systems, groups = problem()
    equations = [plain("u_t", "u", "v"), plain("v_t", "u")]

    def run(*texts):
        return fit_with_constraints(equations, systems, groups, texts, TermSelection(draws=0))

    with pytest.raises(InputError, match="contradict"):
        run("u_t[u] = 1", "u_t[u] = 1.0001", "v_t[u] = 2")
    with pytest.raises(InputError, match="contradict"):
        run("u_t[u] = 100", "u_t[u] = 100.000001")
    found = run("u_t[u] = 1000", "u_t[u] = 1000.0000001", "v_t[u] = 0")  # rounding
    assert found[0].coefficient("u") == pytest.approx(1000) and np.isnan(found[0].errors[0])
    with pytest.raises(InputError, match="not a coefficient"):
        run("w_t[u] = 1")
