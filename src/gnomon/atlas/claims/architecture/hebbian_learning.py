"""A few patterns stored in a Hopfield network by Hebb's rule are stable, and are recalled from 80 % of their bits.

    W = (1/d) sum_t x_t x_t^T with zero diagonal                                                              (1)

W are the weights, d is the number of units and x_t are the n stored patterns of +-1. Each bit receives its own value
plus crosstalk of variance n / d. At n = d / 33 a bit flips with probability 5e-9. Reference: [hopfield1982neural].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.models import HopfieldNetwork


def problem(units, patterns, seed):
    """Returns random patterns of +-1, and copies in which each bit is flipped with probability 0.2."""
    rng = np.random.default_rng(seed)
    x = rng.choice([-1.0, 1.0], size=(patterns, units))
    return x, np.where(rng.uniform(size=x.shape) < 0.2, -x, x)


def predicted():
    """Returns lower bounds on the overlap with a stored pattern, after one update and after recall from damage."""
    return np.array([1.0, 0.99])


def overlaps(times, units, patterns, seed):
    """Returns overlaps with stored patterns after one update and after recall, for ``times`` as many patterns."""
    x, noisy = problem(units, patterns * times, seed)
    net = HopfieldNetwork(torch.from_numpy(x))
    first, second = net.step(torch.from_numpy(x)), torch.from_numpy(noisy)
    for _ in range(8):
        second = net.step(second)
    return np.array([float((s.numpy() * x).mean()) for s in (first, second)])


observed = partial(overlaps, times=1)  # Few patterns.
control = partial(overlaps, times=12)  # Control: the network stores twelve times as many patterns, which is too many.

CLAIM = Claim(
    id="hebbian-learning",
    question="Can a memory trained by Hebb's rule restore damaged patterns?",
    equation=r"W = \frac{1}{d} \sum_t x_t x_t^\top",
    axes=("stored pattern; pattern with a fifth of its bits flipped", "overlap with the stored pattern"),
    source=Source("observed", "hopfield1982neural"),
    premises=(
        Premise(
            "the number of patterns is small compared with the number of units",
            lambda units, patterns: 20 * patterns <= units,
        ),
    ),
    parameters={"units": 300, "patterns": 9},
    judge=bounded_by("below"),
)
