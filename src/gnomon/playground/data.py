"""Generates the playground's data sets from size, noise and seed, so that Python and the browser get the same numbers.

Curves ("sine", "waves", "step", "bump", "line") have one input and real targets. Classes ("circle", "xor", "gauss",
"spiral", "margin") have two inputs and targets +1 and -1. Surfaces ("plane", "hills") have two inputs and real targets.
"""

from math import ceil, cos, exp, floor, pi, sin, sqrt

import torch
from torch import Tensor

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.playground.random_numbers import normals, uniforms

__all__ = ["make_data", "with_features"]

CURVES = ("sine", "waves", "step", "bump", "line")
CLASSES = ("circle", "xor", "gauss", "spiral", "margin")
SURFACES = ("plane", "hills")
HALF_WIDTH_OF_CURVES = 1.8
"""Inputs of curves lie between minus and plus this number."""

FEATURES = (
    lambda a, b: a,
    lambda a, b: b,
    lambda a, b: a * a,
    lambda a, b: b * b,
    lambda a, b: a * b,
    lambda a, b: sin(3 * a),
    lambda a, b: sin(3 * b),
)
"""Functions of two coordinates that a network may get as inputs; bit k of a mask chooses function k."""


@add_call_to_errors
def make_data(name: str, n: int, *, noise: float = 0.0, seed: int = 0, features: int = 3) -> tuple[Tensor, Tensor]:
    """Creates a data set of the playground: inputs (n, d) and targets (n,), in float64.

    Args:
        name: a curve, classes or a surface, see the module's docstring.
        n: number of points.
        noise: standard deviation of the targets of a curve; 0.4 times it moves the points of the others.
        seed: random seed.
        features: mask of the inputs for two coordinates: 1 and 2 for the coordinates, 4 and 8 for their squares, 16 for
            their product, 32 and 64 for their sines.

    Cost: a few operations per point.

    >>> x, y = make_data("line", 4)
    >>> bool(torch.allclose(y, 0.6 * x[:, 0], atol=0.002))                 # targets are on a grid of 0.004
    True
    """
    if name in CURVES:
        return _curve(name, n, noise, seed)
    if name not in CLASSES + SURFACES:
        accepted = ", ".join(CURVES + CLASSES + SURFACES)
        raise InputError(f"name is {name!r}; it must be one of {accepted}")
    u, z = uniforms(seed, 0, 2 * n).reshape(n, 2), normals(seed, 1, 2 * n).reshape(n, 2)
    rows, targets = [], []
    for i in range(n):
        a, b, label = _clean_point(name, i, n, float(u[i, 0]), float(u[i, 1]))
        a, b = _snap(a + 0.4 * noise * float(z[i, 0])), _snap(b + 0.4 * noise * float(z[i, 1]))
        rows.append((a, b))
        targets.append(_surface(name, a, b) if label is None else label)
    return with_features(rows, features), torch.tensor(targets, dtype=torch.float64)


@add_call_to_errors
def with_features(rows: list[tuple[float, float]], mask: int) -> Tensor:
    """Computes the network's inputs for points with two coordinates; ``mask`` selects which features of the points to
    use.

    Cost: a few operations per point.

    >>> with_features([(1.0, 2.0)], 1 + 2 + 16)                              # both coordinates and their product
    tensor([[1., 2., 2.]], dtype=torch.float64)
    """
    chosen = [feature for k, feature in enumerate(FEATURES) if mask >> k & 1]
    return torch.tensor([[feature(a, b) for feature in chosen] for a, b in rows], dtype=torch.float64)


def _snap(value: float) -> float:
    return max(0, min(1000, floor((value + 2) * 250 + 0.5))) / 250 - 2


def _curve(name: str, n: int, noise: float, seed: int) -> tuple[Tensor, Tensor]:
    jitter, error = uniforms(seed, 0, n).tolist(), normals(seed, 1, n).tolist()
    width = 2 * HALF_WIDTH_OF_CURVES
    x = [_snap(-HALF_WIDTH_OF_CURVES + width * (i + 0.5 + 0.4 * (jitter[i] - 0.5)) / n) for i in range(n)]
    y = [_snap(_target(name, point) + noise * error[i]) for i, point in enumerate(x)]
    return torch.tensor(x, dtype=torch.float64)[:, None], torch.tensor(y, dtype=torch.float64)


def _target(name: str, x: float) -> float:
    match name:
        case "waves":
            return 0.8 * sin(1.75 * x) + 0.4 * sin(7 * x)
        case "step":
            return -0.8 if x < 0 else 0.8
        case "bump":
            return 1.3 * exp(-4 * x * x) - 0.3
        case "line":
            return 0.6 * x
    return 0.9 * sin(2.5 * x)


def _surface(name: str, a: float, b: float) -> float:
    if name == "plane":
        return (a + b) / 2
    signs = {(-0.8, 0.8): 1, (0.8, -0.8): 1, (0.8, 0.8): -1, (-0.8, -0.8): -1}
    return sum(sign * exp(-2 * ((a - p) ** 2 + (b - q) ** 2)) for (p, q), sign in signs.items())


def _clean_point(name: str, i: int, n: int, u: float, v: float) -> tuple[float, float, float | None]:
    """Returns one point of a data set without noise, and its label; the label is None if the target is computed
    later.
    """
    label = -1.0 if i % 2 else 1.0
    turn = 2 * pi * v
    match name:
        case "circle":
            r = 0.9 * sqrt(u) if label > 0 else 1.25 + 0.55 * u
            return r * cos(turn), r * sin(turn), label
        case "xor":
            side = 1 if i % 4 < 2 else -1
            return side * (0.15 + 1.6 * u), side * label * (0.15 + 1.6 * v), label
        case "spiral":
            t = (i // 2 + 0.5 + 0.3 * (u - 0.5)) / ceil(n / 2)
            around = 3.5 * pi * t + (0 if label > 0 else pi)
            return 1.8 * t * sin(around), 1.8 * t * cos(around), label
        case "margin":
            across, along = label * (0.3 + 1.1 * u), 2.6 * (v - 0.5)
            return 0.8 * across - 0.6 * along, 0.6 * across + 0.8 * along, label
        case "gauss":
            r = 0.75 * sqrt(u)
            return 0.9 * label + r * cos(turn), 0.9 * label + r * sin(turn), label
    return 3.6 * (u - 0.5), 3.6 * (v - 0.5), None
