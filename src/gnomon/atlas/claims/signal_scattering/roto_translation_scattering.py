"""Scattering over positions and angles gives the same features if an image is shifted or rotated by quarter turns.

    S_2 = mean over u, t of |sum_{t'} (|x * psi_{j1, t'}| * psi_{j2, t2 + t'})(u) psi_k(t - t')|              (1)

x is the image, psi are wavelets with scales j and angles t, psi_k a wavelet over angles, u a position.
Reference: [sifre2013rotation].
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.scattering import WaveletTransform, roto_translation_scattering


def predicted(turns):
    """Returns 0, the relative change of the scattering coefficients, for each rotation."""
    return [0.0] * len(turns)


def changes(phi, side, turns, seed):
    """Returns the relative changes of features under quarter turns and shifts, for an image with stripes."""
    x = torch.randn(side, side, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    x = x + 2 * torch.cos(torch.arange(side) * torch.pi / 4)
    before = phi(x)
    return [float((phi(x.rot90(k).roll(k, 0)) - before).norm() / before.norm()) for k in turns]


observed = partial(changes, phi=lambda x: roto_translation_scattering(x, J=2, L=4))  # Roto-translation scattering.


def control(side, turns, seed):
    """Returns the changes if each wavelet's modulus is averaged over positions, but not over angles."""
    transform = WaveletTransform(2, (side, side), L=4)
    return changes(lambda x: transform(x)[1:].abs().mean((-2, -1)), side, turns, seed)


CLAIM = Claim(
    id="roto-translation-scattering",
    question="Which features ignore shifts and rotations?",
    equation=r"S(r_\theta x(\cdot - a)) = S x",
    axes=("quarter turns", "relative change of the features", "turns"),
    source=Source("theorem", "sifre2013rotation"),
    premises=(Premise("coefficients are averaged over angles, and relative angles are kept"),),
    parameters={"side": 16, "turns": (1, 2, 3)},
    judge=equals(within=1e-3, because="filters are sampled on pixels"),
)
