"""Wavelets nearly commute with deformations, at every frequency alike, because they are dilations of one another.

    |(L x) * psi_j - L (x * psi_j)| <= C s |x|,    L x(u) = x((1 - s) u),    C the same for all scales j      (1)

Filters of equal width, as in a windowed Fourier transform, have a C that grows with their frequency.

Reference: [mallat2012group], Lemma 2.14.
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is

DILATED = "the filters are dilations of one wavelet"


def predicted():
    """The exponent of C against frequency."""
    return 0.0


def largest(frequencies, warp, widths):
    """max |(L x) * psi - L (x * psi)| / (s |x|) over wave packets x, for filters of these frequencies and widths."""
    n = 1024
    t = np.arange(n) - n // 2
    w = 2 * np.pi * np.fft.fftfreq(n)
    dilate = np.exp(1j * np.outer((1 - warp) * t, w)) / n  # from the spectrum to the dilated signal
    found = []
    for f, width in zip(frequencies, widths, strict=True):
        psi = np.exp(-((w - f) ** 2) / (2 * width**2))
        centers = f + width * np.linspace(-2.5, 2.5, 21)
        x = np.exp(1j * centers[:, None] * t - t**2 / (2 * (n / 10) ** 2))

        def spectrum(y):
            return np.fft.fft(np.fft.ifftshift(y, axes=1))

        moved = spectrum(spectrum(x) @ dilate.T)
        first = np.fft.fftshift(np.fft.ifft(moved * psi), axes=1)
        second = (spectrum(x) * psi) @ dilate.T
        found.append((np.linalg.norm(first - second, axis=1) / np.linalg.norm(x, axis=1)).max() / warp)
    return frequencies, found


def observed(frequencies, warp):
    """Widths in proportion to the frequencies."""
    return largest(frequencies, warp, [f / 4 for f in frequencies])


def control(frequencies, warp):
    """Equal widths."""
    return largest(frequencies, warp, [min(frequencies) / 4 for _ in frequencies])


CLAIM = Claim(
    id="wavelet-deformation-commutator",
    title="The commutator of wavelets with a deformation is as small at high frequencies as at low ones",
    equation=r"\|[W, L_\tau]\| \le C \|\nabla \tau\|_\infty",
    source=Source("theorem", "mallat2012group", "Lemma 2.14"),
    premises=(Premise(DILATED),),
    breaks=DILATED,
    parameters={"frequencies": (0.3, 0.6, 1.2, 2.0), "warp": 0.01},
    judge=rate_is(within=0.1, because="packets are a tenth of the signal long, not infinitely"),
    predicted=predicted,
    observed=observed,
    control=control,
    remark="Sometimes printed with the gradient of the norm of the deformation; it is the norm of its gradient.",
)
