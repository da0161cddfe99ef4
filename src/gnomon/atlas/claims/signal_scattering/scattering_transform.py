"""Scattering has an average, one coefficient for each wavelet, and one for each pair of a wavelet and a slower one.

    S x = { x * phi,  |x * psi_1| * phi,  ||x * psi_1| * psi_2| * phi },    j_2 > j_1                          (1)

which are 1 + J L + L^2 J (J - 1) / 2 at each of the places, 2^J apart.

Reference: [bruna2013invariant], Section 2.2.
"""

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.scattering import Scattering2d


def predicted(scales, angles):
    """The counts of (1), and the number of places of an image of side 2^(J + 1)."""
    return [[1 + J * L + L**2 * J * (J - 1) // 2, 4] for J in scales for L in angles]


def observed(scales, angles):
    """Shapes of the coefficients of an image."""
    rows = []
    for J in scales:
        for L in angles:
            out = Scattering2d(J, (2 ** (J + 1), 2 ** (J + 1)), L)(torch.ones(2 ** (J + 1), 2 ** (J + 1)))
            rows.append([out.shape[0], out.shape[1] * out.shape[2]])
    return rows


def control(scales, angles):
    """The same with every second wavelet after every first."""
    return [[1 + J * L + sum(1 for _ in range(J * L) for _ in range(J * L)), 4] for J in scales for L in angles]


CLAIM = Claim(
    id="scattering-transform",
    title="Scattering of images has 1 + J L + L^2 J (J - 1) / 2 coefficients at each place",
    equation=r"S_J x = \{x \star \phi, |x \star \psi_1| \star \phi, ||x \star \psi_1| \star \psi_2| \star \phi\}",
    source=Source("theorem", "bruna2013invariant", "Section 2.2"),
    premises=(Premise("the second wavelet is slower than the first"),),
    parameters={"scales": (1, 2, 3), "angles": (2, 4)},
    judge=equals(rounding=1),
    remark="The second order is sometimes printed with one bar too few.",
)
