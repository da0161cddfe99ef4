"""For a narrow filter, a small shift multiplies the output by a phase; the error is shift times bandwidth.

    x(. + a) * psi = e^{i w_0 a} x * psi + error,   |error|^2 / |x * psi|^2 = 2 (1 - e^{-s^2 a^2 / 2})        (1)

x is white noise, and |psi^|^2 a Gaussian spectrum with mean w_0 and variance s^2, so the error is about s |a|.
Reference: [mallat2012group], Section 2.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(shifts, spread):
    """Returns the predicted squared error of the phase factor relative to the energy, for each shift."""
    return [2 * (1 - np.exp(-(spread**2) * a**2 / 2)) for a in shifts]


def errors(shifts, spread, repetitions, seed, real):
    """Returns the measured squared error of the phase factor relative to the energy, per realization and shift."""
    n, w0 = 4096, np.pi / 2
    w = 2 * np.pi * np.fft.fftfreq(n)
    filters = np.exp(-((w - w0) ** 2) / (4 * spread**2))
    filters = filters + filters[-np.arange(n)] if real else filters
    x = np.random.default_rng(seed).normal(size=(repetitions, n))
    y = np.fft.ifft(np.fft.fft(x) * filters)
    gaps = [np.abs(np.roll(y, -a, 1) - np.exp(1j * w0 * a) * y) ** 2 for a in shifts]
    return np.stack([gap.mean(1) for gap in gaps], 1) / (np.abs(y) ** 2).mean(1, keepdims=True)


observed = partial(errors, real=False)  # An analytic filter.
control = partial(errors, real=True)  # Control: a real filter, which also passes the negative frequencies.

CLAIM = Claim(
    id="wavelet-translation-phase",
    question="What does a small shift do to wavelet coefficients?",
    equation=r"(L_a x \star \psi) \approx e^{i \omega_0 a} (x \star \psi)",
    axes=("shift a (samples)", "relative squared error of the phase", "shifts"),
    source=Source("theorem", "mallat2012group", "Section 2"),
    premises=(Premise("the filter is analytic: it has no negative frequencies"),),
    parameters={"shifts": (1, 2, 4, 8), "spread": 0.05, "repetitions": 40},
    full={"shifts": (1, 2, 4, 8), "spread": 0.05, "repetitions": 400},
    judge=mean_equals(confidence=0.999),
)
