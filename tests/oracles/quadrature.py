"""Gaussian expectations by dense Gauss-Legendre panels and by simulation, in numpy.

E[f(u) g(v)] is an integral over u of f(u) times the integral of g(v) over v given u. Both are cut at the points where
the functions are not smooth, told by the caller, and between them into panels so small that nothing can be missed.
"""

from collections.abc import Callable, Sequence

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]

ENDS = 12.0  # deviations: exp(2 z), the steepest square in use, is below 1e-16 of its peak there
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


def single(f: Function, a: float, kinks: Sequence[float] = ()) -> float:
    """E[f(u)], u ~ N(0, a)."""
    if a == 0:
        return float(f(np.zeros(1))[0])
    z, weight = _panels(np.linspace(-ENDS, ENDS, 49), [k / np.sqrt(a) for k in kinks], ENDS)
    return float(np.sum(weight * _density(z) * f(np.sqrt(a) * z)))


def pair(f: Function, g: Function, a: float, b: float, c: float, kinks: Sequence[float] = ()) -> float:
    """E[f(u) g(v)], (u, v) ~ N(0, [[a, c], [c, b]])."""
    if a == 0 or b == 0:
        return single(f, a, kinks) * single(g, b, kinks)
    rho = c / np.sqrt(a * b)
    if abs(rho) >= 1 - 1e-15:
        ratio = np.sign(c) * np.sqrt(b / a)
        return single(lambda u: f(u) * g(ratio * u), a, [*kinks, *(k / ratio for k in kinks)])
    spread = np.sqrt(b * (1 - rho) * (1 + rho))
    slope = c / a
    places = [k / np.sqrt(a) for k in kinks]
    steps = (-8.0, -5.0, -3.0, -1.5, 0.0, 1.5, 3.0, 5.0, 8.0)  # around each kink the inner integral turns within spread
    if slope != 0:
        places += [(k + s * spread) / (slope * np.sqrt(a)) for k in kinks for s in steps]
    z, weight = _panels(np.linspace(-ENDS, ENDS, 25), places, ENDS)
    u = np.sqrt(a) * z[:, None]
    cuts = np.clip((np.asarray(kinks, dtype=float) - slope * u) / spread, -ENDS, ENDS)
    grid = np.broadcast_to(np.linspace(-ENDS, ENDS, 9), (len(z), 9))
    y, inner = _between(np.sort(np.concatenate([grid, cuts], axis=1), axis=1))
    given_u = np.sum(inner * _density(y) * g(slope * u + spread * y), axis=1)
    return float(np.sum(weight * _density(z) * f(u[:, 0]) * given_u))


def simulated(f: Function, g: Function, a: float, b: float, c: float, *, n: int, seed: int) -> tuple[float, float]:
    """The mean of f(u) g(v) over n draws, and its standard error."""
    x, y = np.random.default_rng(seed).standard_normal((2, n))
    u = np.sqrt(a) * x
    v = c / np.sqrt(a) * x + np.sqrt(b - c * c / a) * y
    products = f(u) * g(v)
    return float(products.mean()), float(products.std() / np.sqrt(n))


def _panels(grid: np.ndarray, places: Sequence[float], end: float) -> tuple[np.ndarray, np.ndarray]:
    edges = np.unique(np.clip(np.concatenate([grid, np.asarray(places, dtype=float)]), -end, end))
    return _between(edges)


def _between(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    half, middle = np.diff(edges)[..., None] / 2, (edges[..., 1:] + edges[..., :-1])[..., None] / 2
    shape = (*edges.shape[:-1], -1)
    return (middle + half * NODES).reshape(shape), (half * WEIGHTS).reshape(shape)


def _density(z: np.ndarray) -> np.ndarray:
    return np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
