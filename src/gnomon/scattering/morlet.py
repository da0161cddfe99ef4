"""Computes Morlet wavelets and Gaussian averages on periodic grids, as values of their Fourier transforms.

In the plane, with the Gaussian window g of standard deviation sigma along the direction theta and sigma / slant across,

    psi(u) = g(u) (e^{i xi <u, e_theta>} - beta),    beta such that sum_u psi(u) = 0                          (1)

and on the line, at frequencies w in cycles per sample,

    psi^(w) = e^{-(w - xi)^2 / 2 sigma^2} - beta e^{-w^2 / 2 sigma^2},    divided by sum_t |psi(t)|           (2)

Both are summed over periods, so that they are exact on the grid. The windows, widths and constants are the same as in
kymatio 0.3, its 3.1415 for pi in the norm of the plane included, so that coefficients agree.

Reference: [bruna2013invariant], [anden2014deep], [andreux2020kymatio].
"""

from math import ceil, cos, floor, log, log2, pi, sin, sqrt

import numpy as np

__all__ = [
    "WaveletParameters",
    "gaussian_low_pass_1d",
    "gaussian_low_pass_2d",
    "morlet_1d",
    "morlet_2d",
    "wavelet_parameters_1d",
]

PERIODS = range(-2, 3)
PI_OF_KYMATIO = 3.1415
"""The value that kymatio uses for pi when it normalizes a window in the plane; needed for equal coefficients."""

WaveletParameters = tuple[float, float, int]
"""Center frequency and width in cycles per sample, and the level of subsampling it bears: 2^level."""


def gabor_2d(shape: tuple[int, int], sigma: float, theta: float, xi: float, slant: float) -> np.ndarray:
    """Returns a Gaussian window times a plane wave, made periodic on the grid."""
    c, s, q = cos(theta), sin(theta), 1 / (2 * sigma**2)
    out = np.zeros(shape, dtype=complex)
    for a in PERIODS:
        u = (np.arange(shape[0]) + a * shape[0])[:, None]
        for b in PERIODS:
            v = np.arange(shape[1]) + b * shape[1]
            along, across = c * u + s * v, slant * (c * v - s * u)
            out += np.exp(-q * (along**2 + across**2) + 1j * xi * along)
    return out * slant / (2 * PI_OF_KYMATIO * sigma**2)


def morlet_2d(shape: tuple[int, int], scale: int, theta: float, slant: float) -> np.ndarray:
    """Returns the Fourier transform of a two-dimensional Morlet wavelet at a scale and an angle.

    See equation (1) of the module docstring.
    Cost: 25 exponentials for each point of the grid.

    >>> wave = morlet_2d((16, 16), 1, 0.3, 0.5)
    >>> bool(abs(wave[0, 0]) < 1e-14), bool(wave.max() > 0.9)             # no mean; passes its own frequency
    (True, True)
    """
    sigma, xi = 0.8 * 2**scale, 0.75 * pi / 2**scale
    wave, window = (gabor_2d(shape, sigma, theta, frequency, slant) for frequency in (xi, 0.0))
    return np.fft.fft2(wave - wave.sum() / window.sum() * window).real  # (1)


def gaussian_low_pass_2d(shape: tuple[int, int], J: int) -> np.ndarray:
    """Returns the Fourier transform of a two-dimensional Gaussian average over about 2^J points.

    Cost: 25 exponentials for each point of the grid.

    >>> bool(abs(gaussian_low_pass_2d((16, 16), 2)[0, 0] - 3.14159265 / 3.1415) < 1e-6)
    True
    """
    return np.fft.fft2(gabor_2d(shape, 0.8 * 2 ** (J - 1), 0.0, 0.0, 1.0)).real


def wavelet_parameters_1d(J: int, Q: int) -> list[WaveletParameters]:
    """Returns center frequency, width and level of one-dimensional wavelets: Q per octave, then equal widths.

    >>> [(round(xi, 3), level) for xi, _, level in wavelet_parameters_1d(3, 1)]
    [(0.35, 0), (0.175, 0), (0.087, 0), (0.044, 1)]
    """
    narrowest, ratio = 0.1 / 2**J, 2 ** (1 / Q)
    xi = max(1 / (1 + 2 ** (3 / Q)), 0.35)
    # This width makes neighboring wavelets cross at half of their peak energy.
    sigma = xi * (1 - 1 / ratio) / (1 + 1 / ratio) / sqrt(log(2))
    waves, elbow = [], sigma
    if sigma > narrowest:
        waves = [(xi, sigma)]
        while waves[-1][1] > narrowest * ratio:
            waves.append((waves[-1][0] / ratio, waves[-1][1] / ratio))
        elbow = waves[-1][0]
    waves += [(elbow - q / Q * elbow, narrowest) for q in range(1, Q)]
    return [(xi, sigma, floor(-log2(min(xi + 5 * sigma, 0.5))) - 1) for xi, sigma in waves]


def morlet_1d(size: int, xi: float, sigma: float) -> np.ndarray:
    """Returns the Fourier transform of the one-dimensional Morlet wavelet with frequency xi and width sigma.

    See equation (2) of the module docstring.
    Cost: at most 18 exponentials for each point.

    >>> bool(abs(morlet_1d(64, 0.25, 0.05)[0]) < 1e-16)
    True
    """
    window, wave = _gaussian(size, 0.0, sigma), _gaussian(size, xi, sigma)
    return _unit(wave - wave[0] / window[0] * window)  # (2)


def gaussian_low_pass_1d(size: int, sigma: float) -> np.ndarray:
    """Returns the Fourier transform of a one-dimensional Gaussian average whose width in frequency is sigma.

    Cost: at most 9 exponentials for each point.

    >>> float(gaussian_low_pass_1d(64, 0.01)[0])
    1.0
    """
    return _unit(_gaussian(size, 0.0, sigma))


def _gaussian(size: int, xi: float, sigma: float) -> np.ndarray:
    """Returns a Gaussian function of the frequency, made periodic with at most five periods on each side."""
    reach = min(ceil(sqrt(-2 * sigma**2 * log(1e-7)) + 1), 5)
    if reach == 1 and xi == 0:
        frequencies = np.fft.fftfreq(size)
    else:
        frequencies = np.arange((1 - reach) * size, reach * size) / size
    return np.exp(-((frequencies - xi) ** 2) / (2 * sigma**2)).reshape(-1, size).mean(0)


def _unit(spectrum: np.ndarray) -> np.ndarray:
    return spectrum / np.abs(np.fft.ifft(spectrum)).sum()
