"""Differentiates samples by local polynomial fits; cross-validation chooses the window and the degree.

    u^(k)(x_i) ~ p_i^(k)(x_i),    p_i = argmin_p sum_{|j - i| <= w} (u_j - p(x_j))^2                            (1)
    (w*, degree*) = argmin sum_i ((u_i - p_i(x_i)) / (1 - h))^2,    h the weight of u_i in its own fit          (2)

(2) is the error of leaving each sample out, exactly: clean data get short windows of high degree, noisy data long ones.
Hypotheses: noise independent from sample to sample; a field that is smooth over the window.
Reference: [savitzky1964smoothing], (1).
Cost: one convolution; with (2) one for each pair that is tried.

>>> x = np.linspace(0, 1, 21)
>>> bool(np.allclose(LocalPolynomialDerivative()(x**3, 0.05, 2), 6 * x))
True
"""

from dataclasses import dataclass

import numpy as np

from gnomon.core.errors import add_call_to_errors
from gnomon.discovery.derivatives.base import AbstractDerivative, check_enough_points

__all__ = ["LocalPolynomialDerivative", "cross_validation_errors", "smoothing_window", "sample_grid_lines"]

DEGREES = (4, 8, 12)
MAX_VALIDATION_LINES = 50
"""Maximum number of lines of the data used in cross-validation."""


@dataclass(frozen=True, slots=True)
class LocalPolynomialDerivative(AbstractDerivative):
    """Differentiates samples by local polynomial fits; cross-validation chooses the window unless ``half_width`` is
    given.

    See equations (1) and (2) of the module docstring.

    >>> LocalPolynomialDerivative(3)(np.arange(9.0), 1.0, 1).round(9).tolist()[4]
    1.0
    """

    half_width: int | None = None
    degree: int = 4

    @add_call_to_errors("LocalPolynomialDerivative(half_width)")
    def __call__(self, u: np.ndarray, h: float, order: int, axis: int = 0) -> np.ndarray:  # noqa: D102
        from scipy.signal import savgol_filter

        check_enough_points(u.shape[axis], order + 3, order)
        given = self.half_width is not None
        half, degree = (int(self.half_width or 1), int(self.degree)) if given else smoothing_window(u, axis)
        degree = max(degree, order + 2)
        half = min(max(half, degree // 2 + 1), (u.shape[axis] - 1) // 2)
        width, least = 2 * half + 1, min(degree, 2 * half)

        def part(values: np.ndarray) -> np.ndarray:
            return savgol_filter(values, width, least, deriv=order, delta=h, axis=axis, mode="interp")  # (1)

        return part(u.real) + 1j * part(u.imag) if np.iscomplexobj(u) else part(u)


@add_call_to_errors
def smoothing_window(u: np.ndarray, axis: int) -> tuple[int, int]:
    """Returns the window (half width) and degree of local polynomial fits with the smallest cross-validation error.

    See equation (2) of the module docstring.
    Cost: one convolution of those lines for each pair that is tried.

    >>> noise = np.random.default_rng(0).standard_normal(400)
    >>> clean, noisy = (smoothing_window(np.sin(np.linspace(0, 90, 400)) + s * noise, 0) for s in (0, 0.3))
    >>> clean[1] > noisy[1], noisy[0] > clean[0] / 2
    (True, True)
    """
    errors = cross_validation_errors(sample_grid_lines(u, axis))
    return min(errors, key=lambda pair: errors[pair], default=(2, 4))


def sample_grid_lines(u: np.ndarray, axis: int) -> np.ndarray:
    """Returns at most `MAX_VALIDATION_LINES` lines of the data along an axis, as real numbers (lines, points).

    Cost: a copy of them.

    >>> sample_grid_lines(np.ones((5, 3)) * 1j, 0).shape
    (6, 5)
    """
    lines = np.moveaxis(u, axis, 0).reshape(u.shape[axis], -1)
    lines = lines[:, :: max(1, lines.shape[1] // MAX_VALIDATION_LINES)]
    return (np.concatenate([lines.real, lines.imag], 1) if np.iscomplexobj(u) else lines).T


def cross_validation_errors(lines: np.ndarray) -> dict[tuple[int, int], float]:
    """Returns the cross-validation error of local polynomial fits for each window (half width) and degree.

    See equation (2) of the module docstring.
    Cost: one Fourier transform of the lines, and its inverse for each pair.

    >>> errors = cross_validation_errors(np.linspace(0, 1, 60)[None] ** 2)
    >>> bool(max(errors.values()) < 1e-20)                        # every fit has degree 2 or more
    True
    """
    pairs, n = _pairs(lines.shape[1]), lines.shape[1]
    if not pairs:
        return {}
    kernels = np.zeros((len(pairs), n))
    for row, (half, degree) in zip(kernels, pairs, strict=True):
        row[: 2 * half + 1] = _own_weights(half, degree)
    waves = np.fft.rfft(lines, axis=1)
    fitted = np.fft.irfft(waves[None] * np.fft.rfft(kernels, axis=1)[:, None], n, axis=2)  # kernels are symmetric
    errors = {}
    for (half, degree), kernel, values in zip(pairs, kernels, fitted, strict=True):
        rest = lines[:, half : n - half] - values[:, 2 * half :]
        errors[half, degree] = float(np.mean(rest**2)) / (1 - kernel[half]) ** 2  # (2)
    return errors


def _own_weights(half: int, degree: int) -> np.ndarray:
    """Returns the weight of each sample in a window in the polynomial fit's value at the window's middle.

    See equation (1) of the module docstring.
    """
    basis = np.linalg.qr(np.polynomial.legendre.legvander(np.linspace(-1, 1, 2 * half + 1), degree))[0]
    return basis @ basis[half]


def _pairs(n: int) -> list[tuple[int, int]]:
    halves = sorted({round(3 * 1.5**k) for k in range(12)})
    return [(half, d) for d in DEGREES for half in halves if d / 2 < half <= n // 6 and (d == 4 or half <= 2 * d)]
