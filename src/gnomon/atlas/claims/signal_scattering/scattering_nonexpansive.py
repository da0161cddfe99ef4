"""Scattering coefficients of two signals are never farther apart than the signals themselves.

    |S x - S y| <= |x - y|                                                                                    (1)

S is scattering. Wavelets keep the energy, and the modulus and averages do not add to it.
Reference: [mallat2012group], Proposition 2.5.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.scattering import WaveletTransform


def inputs(size, pairs, seed):
    """Returns pairs of noise, of smooth signals, of a signal and its shift, and of signals with different means."""
    x, y = np.random.default_rng(seed).normal(size=(2, pairs, size))
    x[1::4], y[1::4] = x[1::4].cumsum(1), y[1::4].cumsum(1)
    y[2::4] = np.roll(x[2::4], 3, 1)
    y[3::4] = x[3::4] + 1 + 0.1 * y[3::4]
    return x, y


def predicted(size, pairs, seed):
    """Returns the distance of each pair of signals."""
    x, y = inputs(size, pairs, seed)
    return np.sqrt(((x - y) ** 2).sum(1))


def distances(size, pairs, seed, weight):
    """Returns the distances of the scattering coefficients for each pair, with all filters times ``weight``."""
    transform = WaveletTransform(4, size)
    fields, found = [torch.from_numpy(x)[:, None] for x in inputs(size, pairs, seed)], 0
    for _ in range(3):
        through = [weight * transform(field).flatten(1, 2).unflatten(1, (field.shape[1], -1)) for field in fields]
        found = found + (through[0][:, :, 0] - through[1][:, :, 0]).abs().square().sum((1, 2))
        fields = [y[:, :, 1:].abs().flatten(1, 2) for y in through]
    return found.sqrt()


observed = partial(distances, weight=1.0)  # The squares of all filters' spectra sum to at most 1.
control = partial(distances, weight=1.2)  # Control: the filters are 20 % larger, so distances may grow.

CLAIM = Claim(
    id="scattering-nonexpansive",
    question="Can scattering increase the distance of two signals?",
    equation=r"\|S x - S y\| \le \|x - y\|",
    axes=("pair of signals", "distance of the coefficients"),
    source=Source("theorem", "mallat2012group", "Proposition 2.5"),
    premises=(Premise("the filters pass every frequency with weight at most 1"),),
    parameters={"size": 64, "pairs": 40},
    full={"size": 128, "pairs": 1000},
    judge=bounded_by(tight=0.9),
)
