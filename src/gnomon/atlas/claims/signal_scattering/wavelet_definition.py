"""A wavelet's dilations together pass every frequency equally if and only if the wavelet's mean is zero.

    int |psi^(a w)|^2 da / a = C    for every w > 0,   C < infinity  iff  psi^(0) = 0                         (1)

psi^ is the Fourier transform of the wavelet psi. C is 1/2 for the second derivative of the Gaussian, whose spectrum is
w^2 e^{-w^2 / 2}. Its spreads in time and frequency multiply to sqrt(7/6 . 5/2); the smallest possible product is 1/2.
Reference: [mallat2009wavelet], Theorem 4.4.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(frequencies):
    """Returns the wavelet's total energy response C at every frequency, then (time spread) x (frequency spread)."""
    return [0.5] * len(frequencies) + [(35 / 12) ** 0.5]


def sums_and_spreads(frequencies, offset):
    """Returns the energy response of all dilations per frequency, then (time spread) x (frequency spread)."""
    t, dt = np.linspace(-12, 12, 1201, retstep=True)
    psi = (1 - t**2 + offset) * np.exp(-(t**2) / 2)
    scales = 2.0 ** (np.arange(-160, 60) / 16)
    w = np.outer(frequencies, scales)
    inside = np.abs(w) < 40
    spectrum = np.where(inside, np.cos(np.where(inside, w, 0)[..., None] * t) @ psi * dt / (2 * np.pi) ** 0.5, 0.0)
    sums = (spectrum**2).sum(1) * np.log(2) / 16  # (1)
    slope = np.gradient(psi, dt)
    return [*sums, ((t**2 * psi**2).sum() * (slope**2).sum()) ** 0.5 / (psi**2).sum()]


observed = partial(sums_and_spreads, offset=0.0)  # The wavelet is the second derivative of a Gaussian.
control = partial(sums_and_spreads, offset=0.2)  # Control: a fifth of the Gaussian is added, so the mean is not zero.

CLAIM = Claim(
    id="wavelet-definition",
    question="Why must a wavelet have mean zero?",
    equation=r"\int |\hat\psi(a \omega)|^2\, da / a = C \;\forall \omega, \quad \sigma_t \sigma_\omega \ge 1/2",
    axes=("frequency, then product of spreads", "sum over scales; product"),
    source=Source("theorem", "mallat2009wavelet", "Theorem 4.4"),
    premises=(
        Premise("the wavelet has mean zero"),
        Premise(
            "the scales reach far enough to cover the spectrum at each frequency",
            lambda frequencies: min(frequencies) * 2 ** (59 / 16) > 3,
        ),
    ),
    parameters={"frequencies": (0.5, 1.0, 1.7)},
    judge=equals(within=2e-3, because="finite differences with steps of 0.02 and scales in 13 octaves"),
)
