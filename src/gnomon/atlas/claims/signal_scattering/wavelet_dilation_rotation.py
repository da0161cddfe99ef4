"""Dilated by 2^j and turned by an angle, a wavelet has its frequency divided by 2^j and turned back, and its sum kept.

    psi_{j,t}(u) = 2^{-2j} psi(r_t u / 2^j):   center frequency 2^{-j} r_{-t} xi,   |psi_{j,t}|_1 = |psi|_1   (1)

Reference: [bruna2013invariant].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals

XI = (2.0, 0.5)


def predicted(scales, angles):
    """Center frequencies and the sum of the modulus, equation (1), which for a Gaussian window of unit sum is 1."""
    rows = []
    for j in range(scales):
        for k in range(angles):
            c, s = np.cos(np.pi * k / angles), np.sin(np.pi * k / angles)
            rows.append([(c * XI[0] + s * XI[1]) / 2**j, (-s * XI[0] + c * XI[1]) / 2**j, 1.0])
    return rows


def measured(scales, angles, power):
    """Means of the spectrum's energy over frequencies, and sums of the modulus, on a grid of 128 x 128."""
    u = np.arange(128) - 64
    w = 2 * np.pi * np.fft.fftfreq(128)
    x, y = np.meshgrid(u, u, indexing="ij")
    rows = []
    for j in range(scales):
        for k in range(angles):
            c, s = np.cos(np.pi * k / angles), np.sin(np.pi * k / angles)
            a, b = (c * x - s * y) / 2**j, (s * x + c * y) / 2**j
            window = np.exp(-(a**2 + b**2) / (2 * 3.0**2)) / (2 * np.pi * 3.0**2)
            psi = window * np.exp(1j * (a * XI[0] + b * XI[1])) / power**j
            energy = np.abs(np.fft.fft2(psi)) ** 2
            energy /= energy.sum()
            rows.append([(energy.sum(1) * w).sum(), (energy.sum(0) * w).sum(), np.abs(psi).sum()])
    return rows


observed = partial(measured, power=4)  # Divided by 4^j.
control = partial(measured, power=2)  # Divided by 2^j, as for an equal square integral.

CLAIM = Claim(
    id="wavelet-dilation-rotation",
    title="A dilated and turned wavelet keeps its sum; its frequency is divided and turned back",
    equation=r"\psi_{j,\theta}(u) = 2^{-2j} \psi(r_\theta u / 2^j)",
    source=Source("theorem", "bruna2013invariant"),
    premises=(Premise("the dilation by 2^j divides by 2^{2j}"),),
    parameters={"scales": 3, "angles": 4},
    judge=equals(within=1e-3, because="sums over pixels stand for integrals"),
)
