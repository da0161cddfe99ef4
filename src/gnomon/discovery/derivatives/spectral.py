"""Differentiates periodic samples by Fourier transform.

    F[u^(k)](w) = (i w)^k F[u](w)                                                                               (1)

Hypotheses: periodic along the axis, and resolved: no energy at the highest frequencies.
Reference: [trefethen2000spectral].
Cost: two fast Fourier transforms.

>>> x = np.linspace(0, 2 * np.pi, 32, endpoint=False)
>>> bool(np.allclose(SpectralDerivative()(np.sin(x), x[1], 3), -np.cos(x)))
True
"""

from dataclasses import dataclass

import numpy as np

from gnomon.core.errors import add_call_to_errors
from gnomon.discovery.derivatives.base import AbstractDerivative, check_enough_points

__all__ = ["SpectralDerivative"]


@dataclass(frozen=True, slots=True)
class SpectralDerivative(AbstractDerivative):
    """Differentiates periodic samples by Fourier transform, with frequencies above the fraction ``keep`` removed.

    See equation (1) of the module docstring.

    >>> SpectralDerivative()(np.zeros(8), 1.0, 1).tolist()[:2]
    [0.0, 0.0]
    """

    keep: float = 1.0

    @add_call_to_errors("SpectralDerivative()")
    def __call__(self, u: np.ndarray, h: float, order: int, axis: int = 0) -> np.ndarray:  # noqa: D102
        n = u.shape[axis]
        check_enough_points(n, 2 * order + 1, order)
        w = 2 * np.pi * np.fft.fftfreq(n, h)
        w = np.where(np.abs(w) <= self.keep * np.abs(w).max(), w, 0.0)
        if order % 2 and n % 2 == 0:
            w[n // 2] = 0.0  # Odd derivatives of the highest frequency would not be real numbers.
        shape = [1] * u.ndim
        shape[axis] = n
        found = np.fft.ifft((1j * w.reshape(shape)) ** order * np.fft.fft(u, axis=axis), axis=axis)  # (1)
        return found if np.iscomplexobj(u) else found.real
