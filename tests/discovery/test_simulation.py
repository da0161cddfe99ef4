"""Simulated equations against exact solutions, and the limits of their steps and of periodic data."""

import numpy as np
import pytest

from gnomon.core import InputError
from gnomon.discovery.equation import Equation, Residuals
from gnomon.discovery.grid import GridData
from gnomon.discovery.simulation import Simulation, _check_periodic, _Machine, _speed, _thin, simulate
from gnomon.discovery.term import parse_term


def law(target, terms):
    return Equation(target, tuple(terms), tuple(terms.values()), (0.0,) * len(terms), {}, (), Residuals(0, 0, "", 0))


def test_a_linear_equation_in_two_directions_is_solved_exactly():
    x, y, t = np.arange(12) * 2 * np.pi / 12, np.arange(10) * 3.0 / 10, np.arange(5) * 0.2
    k, q = 2.0, 2 * np.pi / 3
    rate = -0.3 * k**2 - 0.1 * q**2 + 0.05
    u = np.sin(k * x[:, None, None] + q * y[:, None] - 0.7 * k * t) * np.exp(rate * t)
    data = GridData({"u": u}, {"x": x[1], "y": y[1], "t": 0.2})
    found = simulate((law("u_t", {"u_xx": 0.3, "u_yy": 0.1, "u": 0.05, "u_x": -0.7}),), data)
    np.testing.assert_allclose(found.simulated["u"], u, atol=1e-12)
    assert found.times == pytest.approx(tuple(t)) and found.error < 1e-12


def test_nonlinear_equations_of_two_fields_follow_their_exact_solutions():
    """u_t = -u^2 and v_t = u v - 2 v + 3 V with u, v constant in space; V is a known function of time."""
    t = np.arange(41) * 0.05
    u = 1 / (1 + t) * np.ones((6, 1))
    v = (1 + t) * np.exp(-2 * t) * np.ones((6, 1))
    data = GridData({"u": u, "v": v}, {"x": 0.5, "t": 0.05}, {"V": 0 * u + 0.0})
    found = simulate((law("u_t", {"u^2": -1.0}), law("v_t", {"u*v": 1.0, "v": -2.0, "V": 3.0})), data)
    np.testing.assert_allclose(found.simulated["u"], u, rtol=1e-6)
    np.testing.assert_allclose(found.simulated["v"], v, rtol=1e-6)


def test_a_known_function_is_taken_at_the_time_that_is_reached():
    t = np.arange(4) * 0.5
    known = np.array([7.0, 1.0, -2.0, 4.0]) * np.ones((6, 1))
    data = GridData({"u": np.zeros((6, 4))}, {"x": 0.5, "t": 0.5}, {"V": known})
    found = simulate((law("u_t", {"V": 3.0}),), data)
    np.testing.assert_allclose(found.simulated["u"][0], 1.5 * np.array([0.0, 1.0, -1.0, 3.0]), atol=1e-12)
    assert found.times == pytest.approx(tuple(t))


def test_steps_are_of_fourth_order():
    """u_t = u - u^3, exact by separation; halving the step divides the error by 16."""
    errors = []
    for n in (8, 16):
        t = np.arange(n + 1) * (1.6 / n)
        u0 = 0.3
        u = 1 / np.sqrt(1 + (1 / u0**2 - 1) * np.exp(-2 * t)) * np.ones((4, 1))
        data = GridData({"u": u}, {"x": 1.0, "t": 1.6 / n})
        errors.append(np.abs(simulate((law("u_t", {"u": 1.0, "u^3": -1.0}),), data).simulated["u"] - u).max())
    assert 12 < errors[0] / errors[1] < 22 and errors[0] < 1e-3


def test_products_with_derivatives_and_complex_fields():
    """A soliton of i u_t = -u_xx / 2 - |u|^2 u: u = sech(x) exp(i t / 2); and u_t = -u u_x by characteristics."""
    x, t = np.linspace(-12, 12, 96, endpoint=False), np.arange(6) * 0.1
    u = (1 / np.cosh(x))[:, None] * np.exp(0.5j * t)
    found = simulate((law("u_t", {"u_xx": 0.5j, "u*|u|^2": 1j}),), GridData({"u": u}, {"x": x[1] - x[0], "t": 0.1}))
    assert found.error < 1e-4
    z = np.arange(64) * 2 * np.pi / 64
    moved = []
    for time in t:
        start = z.copy()
        for _ in range(60):
            start = z - time * 0.5 * np.sin(start)
        moved.append(0.5 * np.sin(start))
    found = simulate((law("u_t", {"u*u_x": -1.0}),), GridData({"u": np.stack(moved, 1)}, {"x": z[1], "t": 0.1}))
    assert found.error < 1e-6


def test_waves_above_two_thirds_of_the_highest_are_left_out_of_products():
    """The square of a wave of number 5 on 16 points has number 10, above 2/3 of 8; that of number 2 is kept."""
    x = np.arange(16) * 2 * np.pi / 16
    for k, kept in ((2, True), (3, False)):
        u = np.cos(k * x)[:, None] * np.ones(2)
        made = simulate((law("u_t", {"u^2": 1.0}),), GridData({"u": u}, {"x": x[1], "t": 1e-3})).simulated["u"][:, 1]
        square = np.fft.rfft(made)[2 * k].real / 8
        assert (square == pytest.approx(0.5e-3, rel=1e-2)) if kept else abs(square) < 1e-12


def test_the_speed_of_a_term_is_its_power_of_the_field_and_of_two_thirds_of_the_highest_wave():
    assert _speed(parse_term("u^3"), 2.0, 9.0) == 4.0 and _speed(parse_term("u*u_xx"), 2.0, 9.0) == 2 * 36.0
    assert _speed(parse_term("u_x^2"), 3.0, 9.0) == 3 * 36.0 and _speed(parse_term("1"), 3.0, 9.0) == 1.0
    assert _speed(parse_term("u"), 3.0, 9.0) == 1.0


def test_a_time_of_the_data_takes_as_many_steps_as_the_fastest_term_needs(monkeypatch):
    """h c |u| (2/3 w) / 0.4, with w the larger of the highest waves of both directions, at most 200."""
    rng = np.random.default_rng(0)
    u = rng.standard_normal((8, 6, 2))
    data = GridData({"u": u}, {"x": 0.5, "y": 0.2, "t": 1.0})
    taken = []
    monkeypatch.setattr(_Machine, "_step", lambda self, v, h, i: taken.append(h) or v)
    size = np.abs(u[..., 0]).max()
    top = np.pi / 0.2
    for c, h in ((0.1, 0.3), (-0.4, 0.3), (50.0, 0.3), (1e-9, 0.3)):
        machine = _Machine((law("u_t", {"u*u_x": c, "u^2": 1e-3 * c}),), data)
        taken.clear()
        machine.advance({"u": np.fft.fftn(u[..., 0])}, h, 1)
        expected = int(min(max(1, np.ceil(h * abs(c) * size * 2 / 3 * top / 0.4)), 200))
        assert len(taken) == expected and sum(taken) == pytest.approx(h)
    machine = _Machine((law("u_t", {"u_xx": 4.0}),), data)  # linear terms are exact in one step
    taken.clear()
    machine.advance({"u": np.fft.fftn(u[..., 0])}, 0.3, 1)
    assert len(taken) == 1


def test_ends_that_differ_by_more_than_eight_typical_steps_are_not_periodic():
    """Straight lines of unequal slopes: n points are n - 1 typical steps from one end to the other."""

    def line(n):
        return GridData({"u": np.arange(n)[:, None] * np.array([1.0, -3.0, 0.2])}, {"x": 1.0, "t": 1.0})

    _check_periodic(line(9))
    with pytest.raises(InputError, match="by 9 typical steps"):
        _check_periodic(line(10))
    turned = GridData({"u": np.moveaxis(np.arange(10.0) * np.ones((4, 2, 1)), -1, 1)}, {"x": 1.0, "y": 1.0, "t": 1.0})
    with pytest.raises(InputError, match="ends of y by 9"):
        _check_periodic(turned)


def test_constant_fields_and_second_order_in_time():
    _check_periodic(GridData({"u": np.full((5, 3), 4.0)}, {"x": 1.0, "t": 1.0}))
    rounded = np.full((300, 3), 4.0)
    rounded[-1] += 1e-12  # many typical steps, but rounding
    _check_periodic(GridData({"u": rounded}, {"x": 1.0, "t": 1.0}))
    data = GridData({"u": np.ones((6, 3))}, {"x": 1.0, "t": 1.0})
    with pytest.raises(InputError, match="first order in time"):
        simulate((law("u_tt", {"u": 1.0}),), data)


def test_a_blow_up_has_an_infinite_error_and_pictures_are_thinned():
    silent = Simulation({"u": np.full((3, 2), 1e-3)}, {"u": np.zeros((3, 2))}, (0.0, 0.5))
    assert silent.error == pytest.approx(1e-3 / 1e-150)  # a field of zeros has no size to compare with
    turned = Simulation({"u": np.full((3, 2), 1.1j)}, {"u": np.full((3, 2), 1j)}, (0.0, 0.5))
    assert turned.error == pytest.approx(0.1)
    measured = np.ones((3, 4))
    broken = np.stack([np.ones(3), np.full(3, 1.5), np.full(3, np.nan), np.full(3, np.inf)], 1)
    found = Simulation({"u": broken}, {"u": measured}, (0.0, 0.5, 1.0, 1.5))
    assert found.errors.tolist() == [0.0, 0.5, np.inf, np.inf] and "time 1:" in found.verdict
    assert _thin(np.arange(130.0)[:, None] * np.ones(64)).shape == (65, 64)
    assert _thin(np.array([[3 + 4j, 2e6, -1.0]])).tolist() == [[5.0, 1e6, 1.0]]
    assert _thin(np.array([[np.nan, -2e6, 0.5e6]])).tolist() == [[0.0, -1e6, 0.5e6]]
