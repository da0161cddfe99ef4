"""Under shifts, means and Fourier magnitudes are invariant, convolutions equivariant, flattened images neither.

    mean: invariant,   |FFT|: invariant,   circular convolution: equivariant,   flattened image: neither         (1)

A map f is invariant if f(g x) = f(x) and equivariant if f(g x) = g f(x). Reference: [cohen2016group].
"""

from functools import partial

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.symmetry import equivariance, translations


class Modulus(nn.Module):
    """The absolute values of the Fourier transform of an image."""

    def forward(self, x):
        """Returns the absolute values of the image's Fourier transform over both axes."""
        return torch.fft.fft2(x).abs()


def maps(seed):
    """Returns four maps of images: mean, Fourier magnitudes, circular convolution, flattening."""
    torch.manual_seed(seed)
    conv = nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular")
    return [nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()), Modulus(), conv, nn.Flatten()]


def predicted():
    """Returns for each map 1 if it is invariant, then 1 if it is invariant or equivariant."""
    return [1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0]


def zero_errors(seed, action):
    """Returns for each map whether it is invariant and whether equivariant, by measured errors under an action."""
    x = torch.randn(8, 1, 8, 8, generator=torch.Generator().manual_seed(seed)).double()
    found = []
    for module in maps(seed):
        output = equivariance(module.double(), x, action).output
        both = min(output.invariance, 1.0 if output.equivariance is None else output.equivariance)
        found += [float(output.invariance < 1e-6), float(both < 1e-6)]
    return found


observed = partial(zero_errors, action=translations([(0, 1), (3, 2)]))  # Circular shifts.


def control(seed):
    """Returns both properties for shifts that let zeros enter at the border, under which no map is exact."""
    from gnomon.symmetry import action

    return zero_errors(seed, action({"right": lambda x: torch.nn.functional.pad(x, (1, 0))[..., :-1]}))


CLAIM = Claim(
    id="invariance-equivariance-definitions",
    question="What do invariance and equivariance mean?",
    equation=r"f(gx) = f(x), \quad f(gx) = \rho(g) f(x)",
    axes=("map (invariant, then invariant or equivariant)", "1 if exact"),
    source=Source("theorem", "cohen2016group"),
    premises=(Premise("what leaves on one side enters on the other"),),
    judge=equals(rounding=0),
)
