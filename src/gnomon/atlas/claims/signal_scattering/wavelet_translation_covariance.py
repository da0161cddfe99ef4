"""The wavelet transform of a shifted signal is the shifted wavelet transform, where nothing is left out.

    W L_a = L_a W                                                                                             (1)

Reference: [mallat2012group], Section 2.1.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.scattering import WaveletTransform


def inputs(size, J, seed):
    """A signal, and the spectra of the filters."""
    return np.random.default_rng(seed).normal(size=size), WaveletTransform(J, size).spectra.numpy()


def predicted(size, J, shift, seed):
    """Sums over the circle with the filters, of the signal as it is; then the shift."""
    x, spectra = inputs(size, J, seed)
    lag = (np.arange(size)[:, None] - np.arange(size)) % size
    return np.abs(np.roll(np.stack([wave[lag] @ x for wave in np.fft.ifft(spectra)]), shift, 1))


def shifted_first(size, J, shift, seed, step):
    """The shift, then the transform in frequency, of which every so many places are kept and held until the next."""
    x, spectra = inputs(size, J, seed)
    coefficients = np.abs(np.fft.ifft(np.fft.fft(np.roll(x, shift)) * spectra))
    return coefficients[:, ::step].repeat(step, 1)[:, :size]


observed = partial(shifted_first, step=1)  # Every place.
control = partial(shifted_first, step=2)  # Every second place.

CLAIM = Claim(
    id="wavelet-translation-covariance",
    title="The wavelet transform of a shifted signal is the shifted wavelet transform",
    equation=r"W L_a = L_a W",
    source=Source("theorem", "mallat2012group", "Section 2.1"),
    premises=(Premise("coefficients are kept at every place"),),
    parameters={"size": 101, "J": 4, "shift": 7},
    judge=equals(rounding=1000),
)
