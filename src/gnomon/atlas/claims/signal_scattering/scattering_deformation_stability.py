"""If a wave packet is dilated, its scattering coefficients change in proportion to the dilation.

    |S L x - S x| <= C s |x|,    L x(u) = x((1 - s) u)                                                        (1)

S is scattering, L dilates the signal x by s, C is a constant. Reference: [mallat2012group], Theorem 2.12.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, rate_is
from gnomon.scattering import Scattering1d, fourier_modulus


def predicted():
    """Returns 1, the exponent of the dilation's size in the change of scattering coefficients."""
    return 1.0


def changes(representation, warps, frequency):
    """Returns how much a representation of a wave packet changes under dilations of several sizes."""
    t = np.arange(4096) - 2048
    at = (1 - np.array([0.0, *warps])[:, None]) * t
    x = np.exp(-((at / 600) ** 2) / 2) * np.cos(2 * np.pi * frequency * at)
    y = representation(torch.from_numpy(x)).flatten(1)
    return warps, (y[1:] - y[0]).norm(dim=1)


def observed(warps, frequency):
    """Returns the change of scattering coefficients under dilations of several sizes."""
    scattering = Scattering1d(8, 4096, Q=1)
    return changes(lambda x: scattering(x) * scattering.gains()[:, None], warps, frequency)


# Control: the Fourier modulus. Even the smallest dilation moves its narrow peak by 2.8 times the peak's width.
control = partial(changes, representation=fourier_modulus)

CLAIM = Claim(
    id="scattering-deformation-stability",
    question="How does scattering react to deformations?",
    equation=r"\|S L_\tau x - S x\| \le C \|\nabla \tau\| \|x\|",
    axes=("size s of the deformation", "change of the coefficients"),
    source=Source("theorem", "mallat2012group", "Theorem 2.12"),
    premises=(Premise("the representation is scattering"),),
    parameters={"warps": (0.0025, 0.005, 0.01, 0.02, 0.04), "frequency": 0.3},
    judge=rate_is(next_order=1.0, label="deformation"),
)
