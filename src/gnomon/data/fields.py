"""Simulates physical fields whose equations are known, as test data for methods that discover equations.

    d/dt F[u] = L F[u] + F[N(u)],    L exact, N by four stages of exponential Runge-Kutta                        (1)

Hypotheses: periodic in space; the steps resolve N, which the tests check by halving them.
Reference: [kassam2005fourth], (1).
Cost: four transforms for each step.

>>> run = burgers(points=32, times=5)
>>> run.fields["u"].shape, run.dx
((32, 5), (0.5,))
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gnomon.core.results.record import Record

__all__ = [
    "SimulatedFields",
    "burgers",
    "heat",
    "kuramoto_sivashinsky",
    "reaction_diffusion",
    "two_solitons",
    "vorticity",
]

Spectra = np.ndarray
"""Fourier coefficients, with fields along the first axis."""


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedFields(Record):
    """Simulated physical fields over space and time by name, with grid spacings and the true coefficients of their
    equations.
    """

    fields: dict[str, np.ndarray] = field(repr=False)
    dx: tuple[float, ...]
    dt: float
    law: dict[str, dict[str, float]]


def heat(points: int = 64, times: int = 60, diffusion: float = 0.1, seed: int = 0) -> SimulatedFields:
    """Computes the exact solution of the heat equation u_t = d u_xx for random initial waves.

    Cost: none to speak of.

    >>> float(heat(points=8, times=2).fields["u"].std()) > 0
    True
    """
    draw = np.random.default_rng(seed)
    x, t = np.arange(points) * 2 * np.pi / points, np.linspace(0, 2, times)
    u = sum(
        draw.standard_normal() / k * np.exp(-diffusion * k * k * t) * np.sin(k * x[:, None] + draw.uniform(0, 6.28))
        for k in range(1, 7)
    )
    return SimulatedFields({"u": np.asarray(u)}, (float(x[1]),), float(t[1]), {"u": {"u_xx": diffusion}})


def burgers(points: int = 128, times: int = 101, viscosity: float = 0.1) -> SimulatedFields:
    """Simulates the Burgers equation u_t = -u u_x + e u_xx, a model of shock waves, from a smooth bump.

    Cost: twenty steps for each time.

    >>> burgers(points=32, times=3).law
    {'u': {'u*u_x': -1.0, 'u_xx': 0.1}}
    """
    x, w = _line(points, 16.0, -8.0)
    start = np.fft.fft(np.exp(-((x + 2) ** 2)))[None]
    rule = _advection(w)
    u = _run(-viscosity * w**2, rule, start, 10.0, times, 20)
    return SimulatedFields(
        {"u": u[0]}, (float(x[1] - x[0]),), 10.0 / (times - 1), {"u": {"u*u_x": -1.0, "u_xx": viscosity}}
    )


def kuramoto_sivashinsky(points: int = 256, times: int = 201, length: float = 100.0, seed: int = 0) -> SimulatedFields:
    """Simulates the Kuramoto-Sivashinsky equation u_t = -u u_x - u_xx - u_xxxx, whose solutions are chaotic.

    Cost: ten steps for each time.

    >>> sorted(kuramoto_sivashinsky(points=128, times=100).law["u"])
    ['u*u_x', 'u_xx', 'u_xxxx']
    """
    x, w = _line(points, length, 0.0)
    start = np.fft.fft(np.random.default_rng(seed).standard_normal(points) * 0.1)[None] * (np.abs(w) < 2)
    linear, rule = w**2 - w**4, _advection(w)
    grown = np.fft.fft(_run(linear, rule, start, 50.0, 2, 250)[0, :, -1])[None]
    u = _run(linear, rule, grown, 100.0, times, max(1, round(1000 / times)))
    law = {"u": {"u*u_x": -1.0, "u_xx": -1.0, "u_xxxx": -1.0}}
    return SimulatedFields({"u": u[0]}, (float(x[1] - x[0]),), 100.0 / (times - 1), law)


def two_solitons(points: int = 256, times: int = 201) -> SimulatedFields:
    """Returns an exact solution of the Korteweg-de Vries equation u_t = -6 u u_x - u_xxx: two solitary waves that
    collide.

    Cost: none to speak of.

    >>> round(float(two_solitons(points=600, times=2).fields["u"].max()), 2) > 0.3
    True
    """
    x, t = np.linspace(-30, 30, points, endpoint=False)[:, None], np.linspace(0, 20, times)
    a, b, step = 1.0, 0.55, 1e-3  # a and b set the heights of the two solitons (waves); their speeds are a^2 and b^2
    cross = ((a - b) / (a + b)) ** 2

    def tau(z: np.ndarray) -> np.ndarray:
        f, g = np.exp(a * (z - a * a * t + 12)), np.exp(b * (z - b * b * t + 2))
        return np.log1p(f + g + cross * f * g)

    around = [tau(x + k * step * 20) for k in (-2, -1, 0, 1, 2)]
    h = step * 20
    u = 2 * (-around[0] + 16 * around[1] - 30 * around[2] + 16 * around[3] - around[4]) / (12 * h * h)
    return SimulatedFields({"u": u}, (60.0 / points,), 20.0 / (times - 1), {"u": {"u*u_x": -6.0, "u_xxx": -1.0}})


def reaction_diffusion(points: int = 64, times: int = 101, duration: float = 5.0) -> SimulatedFields:
    """Simulates a rotating spiral of two reacting and diffusing substances (lambda-omega system).

    Cost: four steps for each time.

    >>> len(reaction_diffusion(points=8, times=2).law["u"])
    7
    """
    x, w = _line(points, 20.0, -10.0)
    a, b = np.meshgrid(x, x, indexing="ij")
    radius, angle = np.hypot(a, b), np.angle(a + 1j * b)
    start = np.fft.fftn(
        np.stack([np.tanh(radius) * np.cos(angle - radius), np.tanh(radius) * np.sin(angle - radius)]), axes=(1, 2)
    )
    square = w[:, None] ** 2 + w**2

    def rule(v: Spectra) -> Spectra:
        u, z = np.fft.ifftn(v, axes=(1, 2)).real
        size = u * u + z * z
        return np.fft.fftn(np.stack([(1 - size) * u + size * z, (1 - size) * z - size * u]), axes=(1, 2))

    u = _run(-0.1 * square, rule, start, duration, times, 4)
    shared = {"u_xx": 0.1, "u_yy": 0.1, "u": 1.0, "u^3": -1.0, "u*v^2": -1.0, "u^2*v": 1.0, "v^3": 1.0}
    other = {"v_xx": 0.1, "v_yy": 0.1, "v": 1.0, "v^3": -1.0, "u^2*v": -1.0, "u*v^2": -1.0, "u^3": -1.0}
    h = float(x[1] - x[0])
    return SimulatedFields({"u": u[0], "v": u[1]}, (h, h), duration / (times - 1), {"u": shared, "v": other})


def vorticity(
    points: int = 64, times: int = 61, reynolds: float = 100.0, duration: float = 3.0, seed: int = 0
) -> SimulatedFields:
    """Simulates the flow of a viscous fluid on a periodic square, by its vorticity, at a given Reynolds number.

    Cost: ten steps for each time.

    >>> vorticity(points=8, times=2).law
    {'w': {'u*w_x': -1.0, 'v*w_y': -1.0, 'w_xx': 0.01, 'w_yy': 0.01}}
    """
    x, k = _line(points, 2 * np.pi, 0.0)
    kx, ky = np.meshgrid(k, k, indexing="ij")
    square = kx**2 + ky**2
    inverse = np.where(square > 0, 1 / np.where(square > 0, square, 1), 0)
    noise = np.fft.fftn(np.random.default_rng(seed).standard_normal((points, points)))
    start = noise * np.exp(-((np.sqrt(square) - 4) ** 2) / 4) * (square > 0)
    start = 4 * start / np.fft.ifftn(start).real.std()
    keep = (np.abs(kx) < points / 3) & (np.abs(ky) < points / 3)

    def velocity(w: Spectra) -> tuple[np.ndarray, np.ndarray]:
        return np.fft.ifftn(1j * ky * inverse * w, axes=(-2, -1)).real, np.fft.ifftn(
            -1j * kx * inverse * w, axes=(-2, -1)
        ).real

    def rule(w: Spectra) -> Spectra:
        u, v = velocity(w)
        slope = u * np.fft.ifftn(1j * kx * w, axes=(1, 2)).real + v * np.fft.ifftn(1j * ky * w, axes=(1, 2)).real
        return -np.fft.fftn(slope, axes=(1, 2)) * keep

    w = _run(-square / reynolds, rule, start[None] * keep, duration, times, 10)[0]
    u, v = velocity(np.fft.fftn(np.moveaxis(w, -1, 0), axes=(-2, -1)))
    law = {"w": {"u*w_x": -1.0, "v*w_y": -1.0, "w_xx": 1 / reynolds, "w_yy": 1 / reynolds}}
    h = float(x[1] - x[0])
    return SimulatedFields(
        {"w": w, "u": np.moveaxis(u, 0, -1), "v": np.moveaxis(v, 0, -1)}, (h, h), duration / (times - 1), law
    )


def _line(points: int, length: float, start: float) -> tuple[np.ndarray, np.ndarray]:
    return start + np.arange(points) * length / points, 2 * np.pi * np.fft.fftfreq(points, length / points)


def _advection(w: np.ndarray) -> Callable[[Spectra], Spectra]:
    keep = np.abs(w) < 2 / 3 * np.abs(w).max()
    return lambda v: -0.5j * w * keep * np.fft.fft(np.fft.ifft(v).real ** 2)


def _run(
    linear: np.ndarray, rule: Callable[[Spectra], Spectra], state: Spectra, duration: float, times: int, inner: int
) -> np.ndarray:
    """Integrates a differential equation in Fourier space; returns the fields at evenly spaced times, with ``inner``
    steps between.
    """
    h = duration / (times - 1) / inner
    circle = np.exp(1j * np.pi * (np.arange(32) + 0.5) / 32)
    z = h * linear[..., None] + circle
    half, whole = np.exp(h * linear / 2), np.exp(h * linear)
    q = h * np.mean((np.exp(z / 2) - 1) / z, -1).real
    f1 = h * np.mean((-4 - z + np.exp(z) * (4 - 3 * z + z * z)) / z**3, -1).real
    f2 = h * np.mean((2 + z + np.exp(z) * (z - 2)) / z**3, -1).real
    f3 = h * np.mean((-4 - 3 * z - z * z + np.exp(z) * (4 - z)) / z**3, -1).real
    axes = tuple(range(1, state.ndim))
    frames = [np.fft.ifftn(state, axes=axes).real]
    for _ in range(times - 1):
        for _ in range(inner):
            n = rule(state)
            a = half * state + q * n
            na = rule(a)
            nb = rule(half * state + q * na)
            nc = rule(half * a + q * (2 * nb - n))
            state = whole * state + f1 * n + 2 * f2 * (na + nb) + f3 * nc  # (1)
        frames.append(np.fft.ifftn(state, axes=axes).real)
    return np.stack(frames, -1)
