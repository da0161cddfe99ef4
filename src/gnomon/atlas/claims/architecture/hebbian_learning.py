"""Few patterns stored by Hebb's rule are fixed points, and are found again from four fifths of their bits.

The field of a bit is +-1 and crosstalk of variance n / d: at n = d / 33 a bit turns with probability 5e-9.

    W = (1/d) sum_t x_t x_t^T with zero diagonal                                                              (1)

Reference: [hopfield1982neural].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, bounded_by
from gnomon.models import Hopfield


def problem(units, patterns, seed):
    """Random patterns of +-1, and the same with a fifth of their bits turned."""
    rng = np.random.default_rng(seed)
    x = rng.choice([-1.0, 1.0], size=(patterns, units))
    return x, np.where(rng.uniform(size=x.shape) < 0.2, -x, x)


def predicted():
    """Overlap of patterns after a step, and after recall from the turned ones, at least."""
    return np.array([1.0, 0.99])


def overlaps(times, units, patterns, seed):
    """With so many times as many patterns stored."""
    x, noisy = problem(units, patterns * times, seed)
    net = Hopfield(torch.from_numpy(x))
    first, second = net.step(torch.from_numpy(x)), torch.from_numpy(noisy)
    for _ in range(8):
        second = net.step(second)
    return np.array([float((s.numpy() * x).mean()) for s in (first, second)])


observed = partial(overlaps, times=1)  # Few.
control = partial(overlaps, times=12)  # Many.

CLAIM = Claim(
    id="hebbian-learning",
    title="Few patterns stored by Hebb's rule stay as they are, and are found from a part of them",
    equation=r"W = \frac{1}{d} \sum_t x_t x_t^\top",
    source=Source("observed", "hopfield1982neural"),
    premises=(Premise("there are few patterns for the units", lambda units, patterns: 20 * patterns <= units),),
    parameters={"units": 300, "patterns": 9},
    judge=bounded_by("below"),
)
