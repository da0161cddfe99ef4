"""An average over N places estimates a scattering moment without bias, with a variance of 1 / N.

    Var( mean_N ||X * psi_k| * psi_l| )  ~  1 / N    for processes that forget                                (1)

Reference: [bruna2013invariant], Section 2.4.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, rate_is
from gnomon.scattering import WaveletTransform


def predicted():
    """The exponent of N in (1)."""
    return -1.0


def variances(sizes, realizations, seed, remembers):
    """Variances over realizations of the average for a pair of fast wavelets."""
    rng, found = np.random.default_rng(seed), []
    for size in sizes:
        x = rng.normal(size=(realizations, size))
        x = x * np.exp(0.5 * rng.normal(size=(realizations, 1))) if remembers else x
        moduli = torch.from_numpy(x)
        for spectrum in WaveletTransform(3, size).spectra[1:3]:
            moduli = torch.fft.ifft(torch.fft.fft(moduli) * spectrum).abs()
        found.append(float(moduli.mean(-1).var()))
    return sizes, found


observed = partial(variances, remembers=False)  # White noise.
control = partial(variances, remembers=True)  # Noise whose size is drawn once for all its places.

CLAIM = Claim(
    id="scattering-moment-estimator",
    title="The variance of an estimated scattering moment falls as the number of places",
    equation=r"\mathrm{Var}\, \hat S_N[\lambda_1, \lambda_2] \propto 1 / N",
    source=Source("theorem", "bruna2013invariant", "Section 2.4"),
    premises=(Premise("the process forgets its past within a short time"),),
    parameters={"sizes": (64, 128, 256, 512, 1024), "realizations": 400},
    judge=rate_is(resolution=0.4, label="N"),
)
