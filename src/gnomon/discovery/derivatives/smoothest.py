"""Chooses between local polynomials and Fourier series for differentiation, by the error on left-out samples.

    error(K) = mean (u_i - P_K u_i)^2 / (1 - (2 K + 1) / n)^2,    P_K u the waves of u up to frequency K          (1)

(1) is the error of leaving each sample out, exactly: P_K is a projection with equal weights for all samples. Fields
that do not close at the ends leave much above every K, and local polynomials win.
Hypotheses: noise independent from sample to sample.
Reference: [craven1978smoothing].
Cost: one Fourier transform of some lines of the data, and what local polynomials need.

>>> x = np.linspace(0, 2 * np.pi, 64, endpoint=False)
>>> best_derivative_rule(np.sin(9 * x)[:, None], 0), type(best_derivative_rule(np.sin(1.3 * x)[:, None], 0)).__name__
(SpectralDerivative(keep=0.296875), 'LocalPolynomialDerivative')
"""

import numpy as np

from gnomon.core.errors import add_call_to_errors
from gnomon.discovery.derivatives.base import AbstractDerivative
from gnomon.discovery.derivatives.polynomial import (
    LocalPolynomialDerivative,
    cross_validation_errors,
    sample_grid_lines,
)
from gnomon.discovery.derivatives.spectral import SpectralDerivative

__all__ = ["best_derivative_rule"]

MIN_KEPT_WAVES_DIVISOR = 12
"""At least n / 12 waves are kept, as in the widest window of local polynomials."""
ROUNDING_SHARE = 1e-28
"""Squared errors below this share of the data's square are rounding; fewer waves are then better."""


@add_call_to_errors
def best_derivative_rule(u: np.ndarray, axis: int) -> AbstractDerivative:
    """Returns the differentiation method (local polynomials or Fourier) that best predicts left-out samples along an
    axis.

    See equation (1) of the module docstring.
    Hypotheses: see the module.
    Reference: [craven1978smoothing].
    Cost: see the module.

    >>> noise = np.random.default_rng(0).standard_normal((64, 20))
    >>> best_derivative_rule(np.cos(np.arange(64) * np.pi / 16)[:, None] + 0.1 * noise, 0).keep < 0.3
    True
    """
    lines = sample_grid_lines(u, axis)
    local = cross_validation_errors(lines)
    n = lines.shape[1]
    power = 2 * np.mean(np.abs(np.fft.rfft(lines, axis=1)) ** 2, 0) / n**2
    if n % 2 == 0:
        power[-1] /= 2  # the highest frequency occurs once in the FFT, every other frequency twice
    above = np.append(np.cumsum(power[::-1])[::-1][1:], 0.0)  # sum of the power spectrum above each frequency
    highest = (n - 1) // 2
    floor = ROUNDING_SHARE * float(np.mean(lines**2))
    waves = (above[:highest] + floor) / (1 - (2 * np.arange(highest) + 1) / n) ** 2  # (1)
    # The lowest frequencies are always kept, because a constant fit would have derivative zero.
    waves[: max(1, n // MIN_KEPT_WAVES_DIVISOR)] = np.inf
    best = int(np.argmin(waves))
    if local and min(local.values()) <= waves[best]:
        return LocalPolynomialDerivative(*min(local, key=lambda pair: local[pair]))
    return SpectralDerivative((best + 0.5) / (n / 2))
