"""If a representation is shift invariant and non-expansive, two images are at most as far apart as when best aligned.

Let F be invariant, F(g x) = F(x) for all shifts g, and non-expansive, |F(x) - F(y)| <= |x - y|. Then

    |F(x) - F(y)| = |F(x) - F(g y)| <= min_g |x - g y|                                                   (1)

The absolute values of the orthonormal Fourier transform satisfy both for circular shifts: a shift changes phases only,
and ||a| - |b|| <= |a - b|. Separation of different images is another matter. Reference: [mallat2016understanding].
"""

from functools import partial

import numpy as np
import torch

from gnomon import data
from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(n, seed):
    """Returns pairs of digits; in the first half of the pairs, the second is a shifted copy of the first."""
    images = data.digits(2 * n, 0, seed=seed).x[:, 0].double().numpy()
    rng = np.random.default_rng(seed)
    x, y = images[:n], images[n:].copy()
    for i in range(n // 2):
        y[i] = np.roll(x[i], rng.integers(1, 8, size=2), (0, 1))
    return x, y


def predicted(n, seed):
    """Returns the bound: the distance of both images at the best of all 64 shifts, plus a rounding error."""
    x, y = problem(n, seed)
    aligned = [np.linalg.norm(x - np.roll(y, (i, j), (1, 2)), axis=(1, 2)) for i in range(8) for j in range(8)]
    return np.min(aligned, axis=0) + 100 * np.finfo(float).eps * np.linalg.norm(x, axis=(1, 2))


def distances(n, seed, representation):
    """Returns the distance between the two images of each pair in a representation."""
    x, y = (representation(torch.from_numpy(v)) for v in problem(n, seed))
    return (x - y).flatten(1).norm(dim=1)


observed = partial(distances, representation=lambda x: torch.fft.fft2(x, norm="ortho").abs())  # Fourier magnitudes.
control = partial(distances, representation=lambda x: x)  # Control: the pixels themselves, which are not invariant.

CLAIM = Claim(
    id="representation-desiderata",
    question="How close does an invariant representation bring shifted images?",
    equation=r"|\Phi(x) - \Phi(y)| \le \min_g |x - g y|",
    axes=("pair of images", "distance"),
    source=Source("derived", "mallat2016understanding"),
    premises=(Premise("the representation is invariant to shifts"), Premise("the representation is non-expansive")),
    parameters={"n": 100},
    full={"n": 800},
    judge=bounded_by("above", tight=0.5),
    remark="Measured here: invariance and stability. Separation is measured by regular-representation-condition.",
)
