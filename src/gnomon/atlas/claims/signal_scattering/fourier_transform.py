"""The unitary Fourier transform keeps a signal's energy and maps the Gaussian exp(-pi t^2) to itself.

    b^[d] = D^{-1/2} sum_p b[p] e^{-2 pi i p d / D},   |b^| = |b|,   g^ = g                                   (1)

b is the signal of length D and g[p] = sum_k e^{-pi (p + k D)^2 / D} the periodic Gaussian.
Reference: [mallat2009wavelet], Section 3.3.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def inputs(size, seed):
    """Returns a random signal, and the Gaussian on the circle."""
    p = np.arange(size)
    gaussian = sum(np.exp(-np.pi * (p + k * size) ** 2 / size) for k in range(-4, 5))
    return np.random.default_rng(seed).normal(size=size), gaussian


def predicted(size, seed):
    """Returns the Gaussian itself, then the energy of the signal."""
    signal, gaussian = inputs(size, seed)
    return np.append(gaussian, (signal**2).sum() / size)


def transform(size, seed, norm):
    """Returns the Fourier transform of the Gaussian, then the energy of the signal's transform."""
    signal, gaussian = (torch.fft.fft(torch.from_numpy(x), norm=norm) for x in inputs(size, seed))
    return np.append(gaussian.real.numpy(), float(signal.abs().square().sum()) / size)


observed = partial(transform, norm="ortho")  # The unitary transform.
control = partial(transform, norm="backward")  # Without the factor.

CLAIM = Claim(
    id="fourier-transform",
    question="What does the unitary Fourier transform preserve?",
    equation=r"\hat\beta[d] = D^{-1/2} \sum_p \beta[p] e^{-2 \pi i p d / D}, \quad \|\hat\beta\| = \|\beta\|",
    axes=("position (Gaussian), then energy", "value; energy / size"),
    source=Source("theorem", "mallat2009wavelet", "Section 3.3"),
    premises=(Premise("the transform has the factor 1 / sqrt(D)"),),
    parameters={"size": 256},
    full={"size": 4096},
    judge=equals(rounding=1000),
)
