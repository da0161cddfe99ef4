"""Dilating a wavelet by 2^j divides its frequency by 2^j, and rotating it rotates the frequency back.

    psi_{j,t}(u) = 2^{-2j} psi(r_t u / 2^j):   center frequency 2^{-j} r_{-t} xi,   |psi_{j,t}|_1 = |psi|_1   (1)

r_t is the rotation by angle t, xi the center frequency of psi. Reference: [bruna2013invariant].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

CENTER_FREQUENCY = (2.0, 0.5)


def predicted(scales, angles):
    """Returns both center frequencies and 1, the sum of the wavelet's modulus, for each scale and angle."""
    rows = []
    for j in range(scales):
        for k in range(angles):
            c, s = np.cos(np.pi * k / angles), np.sin(np.pi * k / angles)
            x, y = CENTER_FREQUENCY
            rows.append([(c * x + s * y) / 2**j, (-s * x + c * y) / 2**j, 1.0])
    return rows


def frequencies_and_sums(scales, angles, power):
    """Returns the measured mean frequencies and the sum of the modulus, for each scale and angle."""
    u = np.arange(128) - 64
    w = 2 * np.pi * np.fft.fftfreq(128)
    x, y = np.meshgrid(u, u, indexing="ij")
    rows = []
    for j in range(scales):
        for k in range(angles):
            c, s = np.cos(np.pi * k / angles), np.sin(np.pi * k / angles)
            a, b = (c * x - s * y) / 2**j, (s * x + c * y) / 2**j
            window = np.exp(-(a**2 + b**2) / (2 * 3.0**2)) / (2 * np.pi * 3.0**2)
            psi = window * np.exp(1j * (a * CENTER_FREQUENCY[0] + b * CENTER_FREQUENCY[1])) / power**j
            energy = np.abs(np.fft.fft2(psi)) ** 2
            energy /= energy.sum()
            rows.append([(energy.sum(1) * w).sum(), (energy.sum(0) * w).sum(), np.abs(psi).sum()])
    return rows


observed = partial(frequencies_and_sums, power=4)  # The dilated wavelet is divided by 4^j, which keeps its integral.
control = partial(frequencies_and_sums, power=2)  # Control: division by 2^j, which keeps the energy, not the integral.

CLAIM = Claim(
    id="wavelet-dilation-rotation",
    question="What happens to a wavelet's frequency if it is dilated and rotated?",
    equation=r"\psi_{j,\theta}(u) = 2^{-2j} \psi(r_\theta u / 2^j)",
    axes=("wavelet (two frequencies, then sum)", "frequency (rad per pixel); sum"),
    source=Source("theorem", "bruna2013invariant"),
    premises=(Premise("the dilation by 2^j divides by 2^{2j}"),),
    parameters={"scales": 3, "angles": 4},
    judge=equals(within=1e-3, because="sums over pixels replace integrals"),
)
