"""A deformation changes averaged wavelet moduli by exactly the sum of two commutators and a shift term.

    A|W|L - A|W| = A (|W|L - L|W|) + (A L - L A)|W| + (L A - A)|W|                                            (1)

A is the average, |W| the wavelet modulus, L the deformation. The first term is the commutator of the wavelets, the
second of the average, and the third is what an average hardly notices. Reference: [mallat2012group], Section 2.5.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.scattering import WaveletTransform


def problem(size, J, seed):
    """Returns a signal, the wavelets and the average as matrices, and a deformation by interpolation."""
    lag = (np.arange(size)[:, None] - np.arange(size)) % size
    filters = np.fft.ifft(WaveletTransform(J, size).spectra.numpy())[:, lag]
    at = np.arange(size) + 2 * np.sin(2 * np.pi * np.arange(size) / size)
    low, part = np.floor(at).astype(int), at % 1
    warp = np.eye(size)[low % size] * (1 - part)[:, None] + np.eye(size)[(low + 1) % size] * part[:, None]
    return np.random.default_rng(seed).normal(size=size), filters[1:], filters[0].real, warp


def predicted(size, J, seed):
    """Returns the change of the averaged moduli by the deformation, one row for each wavelet."""
    x, W, A, L = problem(size, J, seed)
    return (np.abs(W @ L @ x) - np.abs(W @ x)) @ A.T


def sum_of_three_terms(size, J, seed, first):
    """Returns the sum of two commutators and the small shift term; ``first`` computes the first commutator."""
    x, W, A, L = problem(size, J, seed)
    u = np.abs(W @ x)
    return first(x, W, L) @ A.T + u @ (A @ L - L @ A).T + u @ (L @ A - A).T


observed = partial(sum_of_three_terms, first=lambda x, W, L: np.abs(W @ L @ x) - np.abs(W @ x) @ L.T)  # As in (1).
# Control: the first term is |W L - L W|, the modulus of the difference, instead of the difference of the moduli.
control = partial(sum_of_three_terms, first=lambda x, W, L: np.abs(W @ L @ x - (W @ x) @ L.T))

CLAIM = Claim(
    id="scattering-order1-decomposition",
    question="Why is first-order scattering stable to deformations?",
    equation=r"A|W|L_\tau - A|W| = A(|W|L_\tau - L_\tau|W|) + [A, L_\tau]|W| + (L_\tau A - A)|W|",
    axes=("position, for each wavelet", "change of the averaged modulus"),
    source=Source("definition", "mallat2012group", "Section 2.5"),
    premises=(Premise("the first term is the difference of moduli, not the modulus of the difference"),),
    parameters={"size": 64, "J": 3},
    judge=equals(rounding=1000),
    remark="The first term is sometimes abbreviated as A times the modulus of the commutator, which is wrong.",
)
