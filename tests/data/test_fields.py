"""Simulated fields against closed forms and an ordinary differential equation solver that shares no code with them."""

import inspect

import numpy as np
import torch
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp

from gnomon.data import fields


def derivative(points, length):
    """Matrix of the derivative of periodic functions, from sums of sines and cosines."""
    x = np.arange(points) * length / points
    waves = np.arange(-(points // 2) + 1, points // 2) * 2 * np.pi / length
    total = np.zeros((points, points))
    for w in waves:
        total += -w * np.sin(w * (x[:, None] - x)) / points
    return total


def second_derivative(points, length):
    """Like `derivative`, for the second derivative, with the highest wave included."""
    x = np.arange(points) * length / points
    total = np.zeros((points, points))
    for k in range(-(points // 2), points // 2):
        w = 2 * np.pi * k / length
        total += -(w**2) * np.cos(w * (x[:, None] - x)) / points
    return total


def low_waves(points, limit):
    """Matrix that keeps waves of fewer than ``limit`` periods."""
    x = 2 * np.pi * np.arange(points) / points
    return sum(np.cos(k * (x[:, None] - x)) / points for k in range(-points // 2 + 1, points // 2) if abs(k) < limit)


def solve(rate, start, times, method="LSODA"):
    found = solve_ivp(lambda _, u: rate(u), (times[0], times[-1]), start, method, times, rtol=1e-9, atol=1e-11)
    return found.y


def test_heat_decays_every_wave_at_its_own_rate():
    points, times, d = 20, 3, 0.3
    run = fields.heat(points, times, d, seed=5)
    spectrum = np.fft.fft(run.fields["u"], axis=0) / points * 2
    draw = np.random.default_rng(5)
    t = np.array([0.0, 1.0, 2.0])
    for k in range(1, 7):
        size = draw.standard_normal() / k
        phase = draw.uniform(0, 6.28)
        wave = size * np.exp(1j * (phase - np.pi / 2)) * np.exp(-0.3 * k**2 * t)
        assert_allclose(spectrum[k], wave, atol=1e-13)
    assert_allclose(spectrum[7:14], 0, atol=1e-13)
    assert_allclose(run.dx, [2 * np.pi / 20])
    assert run.dt == 1.0 and run.law == {"u": {"u_xx": 0.3}}


def test_burgers_is_the_solution_of_an_ordinary_solver():
    points, viscosity = 24, 0.5
    run = fields.burgers(points, 3, viscosity)
    x = -8 + 16 / points * np.arange(points)
    d, dd, keep = derivative(points, 16.0), second_derivative(points, 16.0), low_waves(points, points / 3)
    start = np.exp(-((x + 2) ** 2))
    u = solve(lambda u: -d @ keep @ u**2 / 2 + viscosity * dd @ u, start, [0, 5, 10])
    assert_allclose(run.fields["u"], u, atol=1e-6)  # steps of 1/4, of order 4
    assert run.dt == 5.0
    assert_allclose(run.dx, [2 / 3])
    assert run.law == {"u": {"u*u_x": -1.0, "u_xx": 0.5}}


def test_kuramoto_sivashinsky_is_the_solution_of_an_ordinary_solver_after_its_transient():
    points, length = 12, 7.0  # short enough that the solution is not chaotic
    run = fields.kuramoto_sivashinsky(points, 3, length, seed=4)
    d, dd, keep = derivative(points, length), second_derivative(points, length), low_waves(points, points / 3)
    noise = 0.1 * np.random.default_rng(4).standard_normal(points)
    start = low_waves(points, 2 / (2 * np.pi / length)) @ noise
    u = solve(lambda u: -d @ keep @ u**2 / 2 - dd @ u - dd @ dd @ u, start, [0, 50, 100, 150])
    assert np.abs(u[:, 1:]).max() > 0.1
    assert_allclose(run.fields["u"], u[:, 1:], atol=1e-4)
    assert run.dt == 50.0
    assert_allclose(run.dx, [7 / 12])
    assert run.law == {"u": {"u*u_x": -1.0, "u_xx": -1.0, "u_xxxx": -1.0}}


def test_two_solitons_are_the_second_derivative_of_the_logarithm_of_hirota():
    run = fields.two_solitons(50, 6)
    x = torch.arange(50, dtype=torch.float64)[:, None] * 60 / 50 - 30
    t = torch.tensor([0.0, 4, 8, 12, 16, 20], dtype=torch.float64)
    x = x.expand(50, 6).clone().requires_grad_()
    f, g = (x - t + 12).exp(), (0.55 * (x - 0.55**2 * t + 2)).exp()
    tau = (1 + f + g + (0.45 / 1.55) ** 2 * f * g).log()
    (slope,) = torch.autograd.grad(tau.sum(), x, create_graph=True)
    (bend,) = torch.autograd.grad(slope.sum(), x)
    assert_allclose(run.fields["u"], 2 * bend, atol=2e-7)  # differences of order 4 with a step of 0.02
    assert run.dx == (1.2,) and run.dt == 4.0
    assert run.law == {"u": {"u*u_x": -6.0, "u_xxx": -1.0}}


def test_the_reaction_and_diffusion_are_the_solution_of_an_ordinary_solver():
    points, duration = 8, 1.2
    run = fields.reaction_diffusion(points, 3, duration)
    x = -10 + 20 / points * np.arange(points)
    a, b = x[:, None] + 0 * x, x + 0 * x[:, None]
    radius, angle = np.sqrt(a**2 + b**2), np.arctan2(b, a)
    start = np.tanh(radius) * np.stack([np.cos(angle - radius), np.sin(angle - radius)])
    dd = second_derivative(points, 20.0)

    def rate(state):
        u, v = state.reshape(2, points, points)
        size = u**2 + v**2
        right_u = 0.1 * (dd @ u + u @ dd) + (1 - size) * u + size * v
        right_v = 0.1 * (dd @ v + v @ dd) - size * u + (1 - size) * v
        return np.stack([right_u, right_v]).ravel()

    found = solve(rate, start.ravel(), [0, 0.6, 1.2]).reshape(2, points, points, 3)
    assert_allclose(run.fields["u"], found[0], atol=2e-5)
    assert_allclose(run.fields["v"], found[1], atol=2e-5)
    assert run.dx == (2.5, 2.5) and run.dt == 0.6
    assert run.law["u"] == {"u_xx": 0.1, "u_yy": 0.1, "u": 1, "u^3": -1, "u*v^2": -1, "u^2*v": 1, "v^3": 1}
    assert run.law["v"] == {"v_xx": 0.1, "v_yy": 0.1, "v": 1, "v^3": -1, "u^2*v": -1, "u*v^2": -1, "u^3": -1}


def test_the_vorticity_and_its_velocities_are_the_solution_of_an_ordinary_solver():
    points, reynolds, duration = 10, 20.0, 0.4
    run = fields.vorticity(points, 3, reynolds, duration, seed=2)
    d, dd = derivative(points, 2 * np.pi), second_derivative(points, 2 * np.pi)
    keep = low_waves(points, points / 3)
    eye = np.eye(points)
    laplacian = np.kron(dd, eye) + np.kron(eye, dd)
    dx, dy = np.kron(d, eye), np.kron(eye, d)
    stream = -np.linalg.pinv(laplacian)
    keep2 = np.kron(keep, keep)

    noise = np.fft.fftn(np.random.default_rng(2).standard_normal((points, points)))
    for i in range(points):
        for j in range(points):
            size = np.hypot(min(i, points - i), min(j, points - j))
            noise[i, j] *= np.exp(-((size - 4) ** 2) / 4) if size else 0
    start = np.fft.ifftn(noise).real
    start = keep2 @ (4 * start / start.std()).ravel()

    def rate(w):
        u, v = dy @ stream @ w, -dx @ stream @ w
        return -keep2 @ (u * (dx @ w) + v * (dy @ w)) + laplacian @ w / reynolds

    w = solve(rate, start, [0, 0.2, 0.4])
    assert_allclose(run.fields["w"].reshape(-1, 3), w, atol=1e-5)
    assert_allclose(run.fields["u"].reshape(-1, 3), dy @ stream @ w, atol=1e-5)
    assert_allclose(run.fields["v"].reshape(-1, 3), -dx @ stream @ w, atol=1e-5)
    assert_allclose(run.dx, [2 * np.pi / 10] * 2)
    assert run.dt == 0.2
    assert run.law == {"w": {"u*w_x": -1.0, "v*w_y": -1.0, "w_xx": 0.05, "w_yy": 0.05}}


def test_the_default_runs_are_those_of_the_benchmarks():
    defaults = {
        name: [p.default for p in inspect.signature(getattr(fields, name)).parameters.values()]
        for name in ("heat", "burgers", "kuramoto_sivashinsky", "two_solitons", "reaction_diffusion", "vorticity")
    }
    assert defaults == {
        "heat": [64, 60, 0.1, 0],
        "burgers": [128, 101, 0.1],
        "kuramoto_sivashinsky": [256, 201, 100.0, 0],
        "two_solitons": [256, 201],
        "reaction_diffusion": [64, 101, 5.0],
        "vorticity": [64, 61, 100.0, 3.0, 0],
    }


def test_products_keep_the_lowest_two_thirds_of_the_waves_of_both_directions():
    """-(v^2 / 2)_x of cos(k x) is k sin(2 k x) / 2: kept if 2 k is below two thirds of the largest wave number."""
    x, w = fields._line(24, 2 * np.pi, 0.0)
    for k, kept in ((3, True), (4, False)):  # of waves up to 12, those below 8 are kept
        made = np.fft.ifft(fields._advection(w)(np.fft.fft(np.cos(k * x))))
        assert_allclose(made.imag, 0, atol=1e-12)
        assert_allclose(made.real, k * np.sin(2 * k * x) / 2 if kept else 0 * x, atol=1e-12)
