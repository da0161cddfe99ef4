"""Rotating an image by 90 degrees rotates its scattering coefficients and shifts their angles by half a period.

    S(r x)(u, t) = S x(r^{-1} u, r^{-1} t)    for the rotation r by 90 degrees, which is L / 2 steps of the angles  (1)

x is the image, u a position, t an angle, L the number of angles. Reference: [bruna2013invariant], [sifre2013rotation].
"""

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.scattering import Scattering2d


def image(side, seed):
    """Returns an image of white noise."""
    return torch.randn(side, side, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def first_order(x, L):
    """Returns the first-order scattering coefficients (scales, angles), averaged over positions."""
    y = Scattering2d(2, tuple(x.shape), L, max_order=1, padding="wrap")(x)[1:]
    return y.unflatten(0, (2, L)).mean((-2, -1))


def predicted():
    """Returns 0, the difference between a rotated image's coefficients and coefficients with shifted angles."""
    return 0.0


def difference(side, L, steps, seed):
    """Returns the difference of a rotated image's coefficients to coefficients with angles shifted by ``steps``."""
    x = image(side, seed)
    turned, expected = first_order(x.rot90(1, (0, 1)), L), first_order(x, L).roll(steps, 1)
    return float((turned - expected).abs().max() / expected.abs().max())


def observed(side, L, seed):
    """Returns the difference if the angles are shifted by half of their number, as the claim states."""
    return difference(side, L, L // 2, seed)


def control(side, L, seed):
    """Returns the difference if the angles are shifted by one step too many."""
    return difference(side, L, L // 2 + 1, seed)


CLAIM = Claim(
    id="scattering-rotation-covariance",
    question="What happens to scattering coefficients if an image is rotated?",
    equation=r"S(r x)(u, \theta) = S x(r^{-1} u, r^{-1} \theta)",
    axes=("one image", "relative difference"),
    source=Source("theorem", "bruna2013invariant"),
    premises=(Premise("angles are renumbered with the rotation"),),
    parameters={"side": 32, "L": 8},
    judge=equals(within=0.02, because="the grid of positions is not symmetric about the middle of the image"),
)
