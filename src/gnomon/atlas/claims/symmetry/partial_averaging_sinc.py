"""Averaging a signal over shifts up to a multiplies its frequency k by sin(k a) / (k a), a low-pass filter.

    (1 / 2a) int_{-a}^{a} f(w - t) dt   has Fourier coefficients   sin(k a) / (k a) f_k                             (1)

f_k are the Fourier coefficients of the function f, and a is the largest shift, here m of n steps around the circle. The
integral is computed by Gauss's rule with 80 nodes, which is exact up to rounding. Reference: [mallat2009wavelet].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted(n, m):
    """Returns the predicted factor of each frequency after averaging over shifts."""
    return np.sinc(2 * np.arange(1, n // 2) * m / n)  # numpy's sinc(x) is sin(pi x) / (pi x), here with pi x = k a


def factors(falling, n, m, seed):
    """Returns the measured factors: Fourier coefficients after averaging a random function divided by before."""
    k, places = np.arange(1, n // 2), 2 * np.pi * np.arange(n) / n
    coefficients = 1 + np.random.default_rng(seed).random(len(k))
    nodes, weights = np.polynomial.legendre.leggauss(80)
    weights = weights * (1 - falling * np.abs(nodes))
    f, *shifted = (np.cos(np.outer(places - s, k)) @ coefficients for s in (0.0, *2 * np.pi * m / n * nodes))
    return np.real(np.fft.fft(weights @ shifted / weights.sum())[k] / np.fft.fft(f)[k])


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
    judge=equals(within=1e-10, because="quotients of Fourier coefficients between 1 and 2"),
    remark="Often printed as 2 a sinc(2 k a), which is for frequencies in cycles.",
)
