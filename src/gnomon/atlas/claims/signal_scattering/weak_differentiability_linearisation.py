"""Scattering coefficients of slightly deformed copies of a signal lie near a plane of few dimensions.

    Phi(L x) = Phi(x) + d Phi . tau + o(|tau|)                                                                (1)

Phi is scattering, L deforms the signal x by tau. Four numbers define the deformation; four principal components then
contain nearly all the variance of Phi(L x). Reference: [mallat2016understanding], Section 3.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.scattering import Scattering1d


def predicted():
    """Returns 0.9, the lower bound on the share of variance in four principal components."""
    return 0.9


def share(phi, deformations, size, seed):
    """Returns the share of variance of deformed copies in four principal components, in the representation ``phi``."""
    n = 1024
    t = np.arange(n) - n / 2
    rng = np.random.default_rng(seed)
    waves = np.stack([f(2 * np.pi * k * t / n) for k in (1, 2) for f in (np.sin, np.cos)])
    at = t + size * rng.normal(size=(deformations, 4)) @ waves
    y = phi(torch.from_numpy(np.cos(1.2 * at) * np.exp(-((at / 150) ** 2) / 2))).flatten(1)
    energy = torch.linalg.svdvals(y - y.mean(0)).square()
    return float(energy[:4].sum() / energy.sum())


observed = partial(share, phi=Scattering1d(7, 1024, Q=1, max_order=1))  # Scattering.
control = partial(share, phi=lambda x: x)  # Control: the signal itself, which a shift by one wavelength changes a lot.

CLAIM = Claim(
    id="weak-differentiability-linearisation",
    question="Do deformed copies of a signal lie near a plane?",
    equation=r"\Phi(L_\tau x) = \Phi(x) + \partial_x \Phi\, \tau + o(\|\tau\|)",
    axes=("one signal", "share of variance in four components"),
    source=Source("theorem", "mallat2016understanding", "Section 3"),
    premises=(Premise("the representation is stable to deformations"),),
    parameters={"deformations": 60, "size": 3.0},
    judge=bounded_by("below"),
)
