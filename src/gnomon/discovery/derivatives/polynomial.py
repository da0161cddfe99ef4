"""Derivatives of local polynomials, with a window that the user gives or that cross-validation chooses.

    u^(k)(x_i) ~ p_i^(k)(x_i),    p_i = argmin_p sum_{|j - i| <= w} (u_j - p(x_j))^2                            (1)
    w* = argmin_w sum_i ((u_i - p_i(x_i)) / (1 - h_w))^2,    h_w the weight of u_i in its own fit               (2)

(2) is the error of leaving each sample out, exactly.
Hypotheses: noise independent from sample to sample; a field that is smooth over the window.
Reference: [savitzky1964smoothing], (1).
Cost: one convolution; with (2) one for each window that is tried.

>>> x = np.linspace(0, 1, 21)
>>> bool(np.allclose(Polynomial()(x**3, 0.05, 2), 6 * x))
True
"""

from dataclasses import dataclass

import numpy as np

from gnomon.discovery.derivatives.base import AbstractDerivative, check_points

__all__ = ["Polynomial", "smoothing_window"]

CALL = "Polynomial(half_width)"
DEGREE = 4


@dataclass(frozen=True, slots=True)
class Polynomial(AbstractDerivative):
    """Equation (1); without ``half_width`` the window is chosen by (2).

    >>> Polynomial(3)(np.arange(9.0), 1.0, 1).round(9).tolist()[4]
    1.0
    """

    half_width: int | None = None

    def __call__(self, u: np.ndarray, h: float, order: int, axis: int = 0) -> np.ndarray:  # noqa: D102
        from scipy.signal import savgol_filter

        degree = max(DEGREE, order + 2)
        check_points(u.shape[axis], degree + 3, order, CALL)
        half = smoothing_window(u, axis) if self.half_width is None else int(self.half_width)
        half = min(max(half, degree // 2 + 1), (u.shape[axis] - 1) // 2)
        width, least = 2 * half + 1, min(degree, 2 * half)

        def part(values: np.ndarray) -> np.ndarray:
            return savgol_filter(values, width, least, deriv=order, delta=h, axis=axis, mode="interp")  # (1)

        return part(u.real) + 1j * part(u.imag) if np.iscomplexobj(u) else part(u)


def smoothing_window(u: np.ndarray, axis: int) -> int:
    """The half width that equation (2) chooses, 0 where no smoothing is best; from at most 200 lines of the data.

    Cost: one convolution of those lines for each window that is tried.

    >>> smoothing_window(np.sin(np.linspace(0, 6, 50)), 0)
    0
    """
    from scipy.signal import savgol_coeffs, savgol_filter

    lines = np.moveaxis(u, axis, 0).reshape(u.shape[axis], -1)
    lines = lines[:, :: max(1, lines.shape[1] // 200)]
    lines = np.concatenate([lines.real, lines.imag], 1) if np.iscomplexobj(u) else lines
    spread = float(lines.std())
    errors = {}
    for half in _ladder(len(lines)):
        own = savgol_coeffs(2 * half + 1, DEGREE)[half]
        rest = (lines - savgol_filter(lines, 2 * half + 1, DEGREE, axis=0, mode="interp"))[half:-half]
        errors[half] = float(np.mean((rest / (1 - own)) ** 2))  # (2)
    if not errors:
        return 0
    best = min(errors, key=lambda half: errors[half])
    return 0 if errors[best] ** 0.5 < 1e-3 * spread else best  # a field this smooth is not made better


def _ladder(n: int) -> list[int]:
    halves = sorted({round(3 * 1.35**k) for k in range(16)})
    return [half for half in halves if half <= n // 6]
