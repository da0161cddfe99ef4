"""Scattering hardly changes where a signal moves by much less than the averages reach.

    |S_J L_a x - S_J x| / |S_J x|  ~  |a| 2^{-J}                                                              (1)

for a signal that is short beside 2^J.

Reference: [mallat2012group], Theorem 2.10.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, rate_is
from gnomon.scattering import WaveletTransform


def predicted():
    """The exponent of 2^J in (1)."""
    return -1.0


def changes(scales, shift, averaged):
    """Relative changes of coefficients of the first order of a short wave packet, for several J."""
    t = np.arange(4096) - 2048
    x = torch.from_numpy(np.stack([np.exp(-((u / 3) ** 2) / 2) * np.cos(1.5 * u) for u in (t, t - shift)]))
    found = []
    for J in scales:
        transform = WaveletTransform(J, 4096)
        moduli = transform(x)[:, 1:].abs()
        y = transform(moduli)[:, :, 0].real if averaged else moduli
        found.append(float((y[1] - y[0]).norm() / y[0].norm()))
    return [2.0**J for J in scales], found


observed = partial(changes, averaged=True)  # Averaged.
control = partial(changes, averaged=False)  # Moduli as they are.

CLAIM = Claim(
    id="scattering-translation-invariance",
    title="Doubling the reach of the averages halves the change of scattering under a shift",
    equation=r"\|S_J L_a x - S_J x\| \propto |a| 2^{-J} \|S_J x\|",
    source=Source("theorem", "mallat2012group", "Theorem 2.10"),
    premises=(Premise("moduli are averaged over 2^J"),),
    parameters={"scales": (4, 5, 6, 7), "shift": 2},
    judge=rate_is(next_order=-1.0, label="2^J"),
)
