"""Averaging a signal over shifts up to a multiplies its frequency k by sin(k a) / (k a), a low-pass filter.

    (1 / 2a) int_{-a}^{a} f(w - t) dt   has Fourier coefficients   sin(k a) / (k a) f_k                             (1)

f_k are the Fourier coefficients and a is the largest shift. On a grid of step h, with 2 m + 1 shifts, the factor is
sin((m + 1/2) k h) / ((2 m + 1) sin(k h / 2)). Reference: [mallat2009wavelet].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(n, m):
    """Returns the predicted factor of each frequency after averaging over shifts."""
    k = 2 * np.pi * np.arange(1, n // 2) / n
    return np.sin((m + 0.5) * k) / ((2 * m + 1) * np.sin(k / 2))


def factors(falling, n, m, seed):
    """Returns the measured factors: Fourier coefficients after averaging a random signal divided by before."""
    f, weights = np.random.default_rng(seed).normal(size=n), 1.0 + m - falling * np.abs(np.arange(-m, m + 1))
    made = sum(w * np.roll(f, s) for w, s in zip(weights, range(-m, m + 1), strict=True)) / weights.sum()
    return np.real(np.fft.fft(made)[1 : n // 2] / np.fft.fft(f)[1 : n // 2])


observed = partial(factors, falling=0.0)  # All shifts in the range have equal weight.
control = partial(factors, falling=1.0)  # Control: the weights of the shifts decrease towards the largest one.

CLAIM = Claim(
    id="partial-averaging-sinc",
    question="What does averaging over a range of shifts do to a signal?",
    equation=r"\hat{\underline f}(k) = \frac{\sin(ka)}{ka} \hat f(k)",
    axes=("frequency", "factor of the Fourier coefficient"),
    source=Source("theorem", "mallat2009wavelet"),
    premises=(Premise("all shifts of the range have equal weight"),),
    parameters={"n": 64, "m": 5},
    judge=equals(within=1e-10, because="quotients of Fourier coefficients of random signals"),
    remark="Often printed as 2 a sinc(2 k a), which is for frequencies in cycles.",
)
