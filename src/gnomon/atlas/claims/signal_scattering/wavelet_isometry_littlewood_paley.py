"""A wavelet transform keeps a signal's energy exactly if its squared filters sum to 1 at every frequency.

    |W x|^2 = |x|^2   iff   phi^(w)^2 + sum_k (psi_k^(w)^2 + psi_k^(-w)^2) / 2 = 1                            (1)

W is the transform of a real signal x, phi the average, psi_k the wavelets, ^ the Fourier transform.
Reference: [mallat2012group], Proposition 2.1.
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.scattering import WaveletTransform


def inputs(shape, seed):
    """Returns signals: noise, smooth signals and single frequencies."""
    x = np.random.default_rng(seed).normal(size=(6, *shape))
    x[2:4] = x[2:4].cumsum(-1)
    x[4:] = np.cos(np.arange(shape[1]) * np.array([0.7, 2.9])[:, None, None])
    return x


def predicted(shape, seed):
    """Returns the energy of each signal."""
    return (inputs(shape, seed) ** 2).sum((1, 2))


def observed(J, shape, seed):
    """Returns the energy of each signal's wavelet coefficients."""
    coefficients = WaveletTransform(J, shape)(torch.from_numpy(inputs(shape, seed)))
    return coefficients.abs().square().sum((1, 2, 3))


def control(J, shape, seed):
    """Returns the energies for Morlet wavelets, whose squared filters do not sum to 1."""
    from gnomon.scattering.images import wavelet_spectra_2d
    from gnomon.scattering.morlet import gaussian_low_pass_2d

    filters = np.concatenate([gaussian_low_pass_2d(shape, J)[None], *wavelet_spectra_2d(shape, J, 8)])
    return (np.abs(np.fft.ifft2(np.fft.fft2(inputs(shape, seed))[:, None] * filters)) ** 2).sum((1, 2, 3))


CLAIM = Claim(
    id="wavelet-isometry-littlewood-paley",
    question="When does a wavelet transform keep the energy?",
    equation=r"|\hat\phi|^2 + \frac12 \sum (|\hat\psi(\omega)|^2 + |\hat\psi(-\omega)|^2) = 1",
    axes=("signal", "energy"),
    source=Source("theorem", "mallat2012group", "Proposition 2.1"),
    premises=(Premise("the filters pass every frequency with weight 1"),),
    parameters={"J": 2, "shape": (24, 31)},
    judge=equals(rounding=1000),
)
