"""A map is invariant where f(g x) = f(x) and equivariant where f(g x) = g f(x): known maps of signals under shifts.

    mean: invariant,   |FFT|: invariant,   circular convolution: equivariant,   flattened image: neither         (1)

Reference: [cohen2016group].
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry import equivariance, translations


class Modulus(nn.Module):
    """The modulus of the Fourier transform."""

    def forward(self, x):
        """Over both axes."""
        return torch.fft.fft2(x).abs()


def maps(seed):
    """Four maps of images."""
    torch.manual_seed(seed)
    conv = nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular")
    return [nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()), Modulus(), conv, nn.Flatten()]


def predicted():
    """Whether the error of invariance, and of the better of both, is zero; equation (1)."""
    return [1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0]


def told(seed, action):
    """The same from measured errors."""
    x = torch.randn(8, 1, 8, 8, generator=torch.Generator().manual_seed(seed)).double()
    found = []
    for module in maps(seed):
        output = equivariance(module.double(), x, action).output
        both = min(output.invariance, 1.0 if output.equivariance is None else output.equivariance)
        found += [float(output.invariance < 1e-6), float(both < 1e-6)]
    return found


observed = partial(told, action=translations([(0, 1), (3, 2)]))  # Circular shifts.


def control(seed):
    """Zeros come in at the border: none of the maps follows."""
    from gnomon.symmetry import action

    return told(seed, action({"right": lambda x: torch.nn.functional.pad(x, (1, 0))[..., :-1]}))


CLAIM = Claim(
    id="invariance-equivariance-definitions",
    title="Means and Fourier moduli do not see shifts, convolutions follow them, and dense features do neither",
    equation=r"f(gx) = f(x), \quad f(gx) = \rho(g) f(x)",
    source=Source("theorem", "cohen2016group"),
    premises=(Premise("shifts come back on the other side"),),
    parameters={},
    judge=equals(rounding=0),
)
