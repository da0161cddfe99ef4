"""The unitary Fourier transform keeps the energy, and maps the Gaussian to itself.

    b^[d] = D^{-1/2} sum_p b[p] e^{-2 pi i p d / D},   |b^| = |b|,   g^ = g                                   (1)

for g[p] = sum_k e^{-pi (p + k D)^2 / D}.

Reference: [mallat2009wavelet], Section 3.3.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def inputs(size, seed):
    """A random signal, and the Gaussian on the circle."""
    p = np.arange(size)
    gaussian = sum(np.exp(-np.pi * (p + k * size) ** 2 / size) for k in range(-4, 5))
    return np.random.default_rng(seed).normal(size=size), gaussian


def predicted(size, seed):
    """The energy of the signal, and the Gaussian; equation (1)."""
    signal, gaussian = inputs(size, seed)
    return np.append(gaussian, (signal**2).sum() / size)


def transformed(size, seed, norm):
    """The energy of the transform, and the transform of the Gaussian."""
    signal, gaussian = (torch.fft.fft(torch.from_numpy(x), norm=norm) for x in inputs(size, seed))
    return np.append(gaussian.real.numpy(), float(signal.abs().square().sum()) / size)


observed = partial(transformed, norm="ortho")  # The unitary transform.
control = partial(transformed, norm="backward")  # Without the factor.

CLAIM = Claim(
    id="fourier-transform",
    title="The unitary Fourier transform keeps the energy of a signal and maps the Gaussian to itself",
    equation=r"\hat\beta[d] = D^{-1/2} \sum_p \beta[p] e^{-2 \pi i p d / D}, \quad \|\hat\beta\| = \|\beta\|",
    source=Source("theorem", "mallat2009wavelet", "Section 3.3"),
    premises=(Premise("the transform has the factor 1 / sqrt(D)"),),
    parameters={"size": 256},
    full={"size": 4096},
    judge=equals(rounding=1000),
)
