"""Second-order scattering moments distinguish random processes that have the same power spectrum.

    S[k, l] = E ||X * psi_k| * psi_l|                                                                         (1)

X is the process, psi_k and psi_l are wavelets. Gaussian white noise and rare spikes with the same variance have the
same spectrum. Their moments (1) differ by more than 5 standard errors, but their energies E |X * psi_k|^2 do not.
Reference: [bruna2013invariant], Section 2.4.
"""

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.scattering import WaveletTransform, scattering_moments


def processes(realizations, size, seed):
    """Returns realizations of Gaussian noise, and of random spikes at a twentieth of the points."""
    rng = np.random.default_rng(seed)
    spikes = (rng.random((realizations, size)) < 0.05) * rng.choice([-1, 1], (realizations, size)) * 20**0.5
    return torch.from_numpy(rng.normal(size=(realizations, size))), torch.from_numpy(spikes)


def predicted():
    """Returns 5, the smallest allowed difference of scattering moments in standard errors."""
    return 5.0


def observed(realizations, size, seed):
    """Returns the largest difference of both processes' second-order scattering moments, in standard errors."""
    transform = WaveletTransform(4, size)
    a, b = (scattering_moments(transform, x) for x in processes(realizations, size, seed))
    return float(((a.second - b.second).abs() / (a.second_error**2 + b.second_error**2).sqrt()).max())


def control(realizations, size, seed):
    """Returns the largest difference of both processes' wavelet energies, in standard errors."""
    transform = WaveletTransform(4, size)
    rows = [transform(x)[:, 1:].abs().square().mean(-1) for x in processes(realizations, size, seed)]
    errors = sum(row.var(0) / len(row) for row in rows).sqrt()
    return float(((rows[0].mean(0) - rows[1].mean(0)).abs() / errors).max())


CLAIM = Claim(
    id="scattering-moments",
    question="Can scattering distinguish processes with equal power spectrum?",
    equation=r"\bar S[\lambda_1, \lambda_2] = E\, ||X \star \psi_{\lambda_1}| \star \psi_{\lambda_2}|",
    axes=("one pair of processes", "largest distance in standard errors"),
    source=Source("theorem", "bruna2013invariant", "Section 2.4"),
    premises=(Premise("the features are means of moduli"),),
    parameters={"realizations": 40, "size": 256},
    full={"realizations": 400, "size": 1024},
    judge=bounded_by("below"),
    loose_because="5 standard errors count as different; about 15 are measured.",
)
