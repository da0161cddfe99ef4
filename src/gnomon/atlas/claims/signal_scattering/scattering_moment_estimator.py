"""A scattering moment's estimate from N points of a random process has a variance proportional to 1 / N.

    Var( mean_N ||X * psi_k| * psi_l| )  ~  1 / N    for processes that forget                                (1)

X is a process with short memory, psi_k and psi_l are wavelets. Reference: [bruna2013invariant], Section 2.4.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, rate_is
from gnomon.scattering import WaveletTransform


def predicted():
    """Returns -1, the exponent of the number of points in the estimate's variance."""
    return -1.0


def variances(sizes, realizations, seed, remembers):
    """Returns the variance over realizations of the estimated scattering moment, for each number of points."""
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
control = partial(variances, remembers=True)  # Control: the noise level is constant along each realization.

CLAIM = Claim(
    id="scattering-moment-estimator",
    question="How fast does an estimated scattering moment converge?",
    equation=r"\mathrm{Var}\, \hat S_N[\lambda_1, \lambda_2] \propto 1 / N",
    axes=("number of points N", "variance of the estimate"),
    source=Source("theorem", "bruna2013invariant", "Section 2.4"),
    premises=(Premise("the process has short memory"),),
    parameters={"sizes": (64, 128, 256, 512, 1024), "realizations": 400},
    judge=rate_is(resolution=0.4, label="N"),
)
