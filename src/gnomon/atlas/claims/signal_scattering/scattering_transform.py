"""Image scattering with J scales and L angles has 1 + J L + L^2 J (J - 1) / 2 coefficients per position.

    S x = { x * phi,  |x * psi_1| * phi,  ||x * psi_1| * psi_2| * phi },    j_2 > j_1                          (1)

There is an average, one coefficient for each of J L wavelets psi, and one for each pair with a coarser second wavelet,
at positions 2^J apart. Reference: [bruna2013invariant], Section 2.2.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.scattering import Scattering2d


def predicted(scales, angles):
    """Returns the predicted numbers of coefficients and of positions, for each number of scales J and angles L."""
    return [[1 + J * L + L**2 * J * (J - 1) // 2, 4] for J in scales for L in angles]


def count(half_turns, scales, angles):
    """Returns the measured numbers of coefficients and positions, for each J and L; angles fill ``half_turns``."""
    rows = []
    for J in scales:
        for L in angles:
            out = Scattering2d(J, (2 ** (J + 1), 2 ** (J + 1)), half_turns * L)(torch.ones(2 ** (J + 1), 2 ** (J + 1)))
            rows.append([out.shape[0], out.shape[1] * out.shape[2]])
    return rows


observed = partial(count, half_turns=1)  # L angles cover a half turn: opposite wavelets give the same modulus.
control = partial(count, half_turns=2)  # Control: L angles on each half turn, twice as many as needed.


CLAIM = Claim(
    id="scattering-transform",
    question="How many scattering coefficients does an image have?",
    equation=r"S_J x = \{x \star \phi, |x \star \psi_1| \star \phi, ||x \star \psi_1| \star \psi_2| \star \phi\}",
    axes=("combination of scales J and angles L", "number of coefficients; number of positions"),
    source=Source("theorem", "bruna2013invariant", "Section 2.2"),
    premises=(Premise("the angles cover a half turn"), Premise("the second wavelet is coarser than the first")),
    parameters={"scales": (1, 2, 3), "angles": (2, 4)},
    judge=equals(rounding=1),
    remark="The second order is sometimes printed with one bar missing.",
)
