"""The wavelet transform (without subsampling) of a shifted signal is the shifted wavelet transform.

    W L_a = L_a W                                                                                             (1)

W is the transform and L_a a shift by a. Reference: [mallat2012group], Section 2.1.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.scattering import WaveletTransform


def inputs(size, J, seed):
    """Returns a random signal, and the spectra of the filters."""
    return np.random.default_rng(seed).normal(size=size), WaveletTransform(J, size).spectra.numpy()


def predicted(size, J, shift, seed):
    """Returns the modulus of the wavelet transform, shifted afterwards, by sums over the circle."""
    x, spectra = inputs(size, J, seed)
    lag = (np.arange(size)[:, None] - np.arange(size)) % size
    return np.abs(np.roll(np.stack([wave[lag] @ x for wave in np.fft.ifft(spectra)]), shift, 1))


def shift_then_transform(size, J, shift, seed, step):
    """Returns the transform of the shifted signal; only every ``step``-th position is kept."""
    x, spectra = inputs(size, J, seed)
    coefficients = np.abs(np.fft.ifft(np.fft.fft(np.roll(x, shift)) * spectra))
    return coefficients[:, ::step].repeat(step, 1)[:, :size]


observed = partial(shift_then_transform, step=1)  # Every position.
control = partial(shift_then_transform, step=2)  # Every second position.

CLAIM = Claim(
    id="wavelet-translation-covariance",
    question="Does the wavelet transform commute with shifts?",
    equation=r"W L_a = L_a W",
    axes=("position, for each filter", "modulus of the coefficient"),
    source=Source("theorem", "mallat2012group", "Section 2.1"),
    premises=(Premise("coefficients are kept at every position"),),
    parameters={"size": 101, "J": 4, "shift": 7},
    judge=equals(rounding=1000),
)
