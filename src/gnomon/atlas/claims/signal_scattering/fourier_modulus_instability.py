"""The Fourier modulus of a dilated wave packet changes in proportion to the packet's frequency.

It ignores translations. For a wave packet x with frequency f, a dilation by s moves its spectrum by s f, which is many
of its widths at high frequencies:

    | |F x_s| - |F x| | / (s |x|)  grows as  f^1                                                              (1)

F is the Fourier transform, x_s the dilated signal. Reference: [mallat2012group], Section 1.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals
from gnomon.scattering import Scattering1d


def predicted():
    """Returns 1, the exponent of the frequency in the relative change of the Fourier modulus."""
    return 1.0


def packets(length, frequencies, width, warp):
    """Returns wave packets of each frequency, and dilated copies."""
    t = np.arange(length) - length // 2
    both = [(1 - s) * t for s in (0.0, warp)]
    return [np.exp(-((a / width) ** 2) / 2) * np.cos(2 * np.pi * np.array(frequencies)[:, None] * a) for a in both]


def exponent(representation, length, frequencies, width, warp):
    """Returns the measured exponent of the frequency in a representation's change under dilation."""
    before, after = (representation(x) for x in packets(length, frequencies, width, warp))
    change = np.linalg.norm((after - before).reshape(len(before), -1), axis=1)
    return float(np.polyfit(np.log(frequencies), np.log(change), 1)[0])


observed = partial(exponent, representation=lambda x: np.abs(np.fft.fft(x)))  # The Fourier modulus.


def control(length, frequencies, width, warp):
    """Returns the exponent for scattering coefficients, whose change does not grow with the frequency."""
    scattering = Scattering1d(10, length, Q=1)
    gains = scattering.gains()[:, None]
    return exponent(lambda x: (scattering(torch.from_numpy(x)) * gains).numpy(), length, frequencies, width, warp)


CLAIM = Claim(
    id="fourier-modulus-instability",
    question="Why is the Fourier modulus not a stable representation?",
    equation=r"\| |\hat x_s| - |\hat x| \| \propto s\, \omega \|x\|",
    axes=("one family of wave packets", "power of the frequency"),
    source=Source("theorem", "mallat2012group", "Section 1"),
    premises=(
        Premise("the representation is the modulus of the Fourier transform"),
        Premise(
            "the dilation moves spectra by less than two of their widths",
            lambda width, warp, frequencies: 2 * np.pi * width * warp * max(frequencies) < 2,
        ),
    ),
    parameters={
        "length": 8192,
        "frequencies": (0.0078125, 0.015625, 0.03125, 0.0625, 0.125, 0.25),
        "width": 256.0,
        "warp": 0.002,
    },
    judge=equals(within=0.05, because="the fitted exponent over five octaves, before the spectra separate completely"),
    remark="The control is scattering: its exponent is 0, within a factor 1.1 over the same five octaves.",
)
