"""Doubling the width of scattering's averages halves the change of its coefficients under a shift.

    |S_J L_a x - S_J x| / |S_J x|  ~  |a| 2^{-J}                                                              (1)

S_J is scattering with averages over 2^J, L_a a shift by a, x a signal that is short compared with 2^J.
Reference: [mallat2012group], Theorem 2.10.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, rate_is
from gnomon.scattering import WaveletTransform


def predicted():
    """Returns -1, the exponent of the averaging width in the relative change under a shift."""
    return -1.0


def changes(scales, shift, averaged):
    """Returns the relative change of a short wave packet's first-order coefficients under a shift, per scale J."""
    t = np.arange(4096) - 2048
    x = torch.from_numpy(np.stack([np.exp(-((u / 3) ** 2) / 2) * np.cos(1.5 * u) for u in (t, t - shift)]))
    found = []
    for J in scales:
        transform = WaveletTransform(J, 4096)
        moduli = transform(x)[:, 1:].abs()
        y = transform(moduli)[:, :, 0].real if averaged else moduli
        found.append(float((y[1] - y[0]).norm() / y[0].norm()))
    return [2.0**J for J in scales], found


observed = partial(changes, averaged=True)  # The wavelet moduli are averaged over 2^J samples.
control = partial(changes, averaged=False)  # Control: the wavelet moduli are not averaged.

CLAIM = Claim(
    id="scattering-translation-invariance",
    question="How invariant is scattering to shifts?",
    equation=r"\|S_J L_a x - S_J x\| \propto |a| 2^{-J} \|S_J x\|",
    axes=("reach of the averages 2^J", "relative change of the coefficients"),
    source=Source("theorem", "mallat2012group", "Theorem 2.10"),
    premises=(Premise("moduli are averaged over 2^J"),),
    parameters={"scales": (4, 5, 6, 7), "shift": 2},
    judge=rate_is(next_order=-1.0, label="2^J"),
)
