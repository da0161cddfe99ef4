"""Shifting a signal before or after a convolution gives the same result (shift equivariance).

    f_D * h = (f * h)_D,    f_D(t) = f(t + D)                                                                 (1)

f is the signal, h the kernel, D the shift. Reference: [mallat2009wavelet], Section 2.1.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals


def inputs(n, m, seed):
    """Returns a random signal and a random kernel."""
    return np.random.default_rng(seed).normal(size=n), np.random.default_rng(seed + 1).normal(size=m)


def predicted(n, m, shift, seed):
    """Returns the convolution of the signal, shifted afterwards, computed by Fourier transforms."""
    f, h = inputs(n, m, seed)
    return np.roll(np.fft.ifft(np.fft.fft(f) * np.fft.fft(h, n)).real, -shift)


def shift_then_convolve(n, m, shift, seed, mode):
    """Returns torch's convolution of the shifted signal; ``mode`` says how the signal continues at its border."""
    f, h = (torch.from_numpy(x) for x in inputs(n, m, seed))
    padded = functional.pad(f.roll(-shift)[None, None], (m - 1, 0), mode=mode)
    return functional.conv1d(padded, h.flip(0)[None, None])[0, 0]


observed = partial(shift_then_convolve, mode="circular")  # On a circle.
control = partial(shift_then_convolve, mode="constant")  # Control: the signal is continued by zeros beyond its border.

CLAIM = Claim(
    id="convolution-shift-equivariance",
    question="Does convolution commute with shifts?",
    equation=r"f_\Delta * h = (f * h)_\Delta, \quad f_\Delta(t) = f(t + \Delta)",
    axes=("position", "convolution"),
    source=Source("theorem", "mallat2009wavelet", "Section 2.1"),
    premises=(Premise("signals are periodic, or the border is far away"),),
    parameters={"n": 100, "m": 9, "shift": 23},
    judge=equals(rounding=1000),
    remark="The proof is sometimes printed with f(t - D); either sign is right, if it is the same on both sides.",
)
