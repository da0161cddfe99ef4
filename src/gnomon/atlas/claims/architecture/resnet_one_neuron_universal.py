"""Residual blocks with one hidden unit, one after the other, come near to every function in the mean.

    h <- h + v relu(h - c)                                                                                    (1)
    mean |f - f_N| <= L / (4 N) + d N (2 N + 12) + e (N + 6) / N       with some 3 N blocks                   (2)

First a staircase of N rising plateaus (slope e, ramps of width d), from the right to the left: a block changes all
slopes to its right. Then, from the top down, a block moves each plateau to its value, which lies below all other cuts.
Reference: [lin2018resnet].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by

RAMP, FLAT, DOWN = 1e-6, 1e-3, 3.0  # d and e of (2), and how far below the staircase the values are moved


def target(x):
    """Up and down with slope 8 throughout, the hardest function of its Lipschitz constant; |f| <= 1."""
    return 2 * np.abs((4 * x) % 2 - 1) - 1


def predicted(plateaus):
    """Equation (2)."""
    n = np.array(plateaus, dtype=float)
    return 8 / (4 * n) + RAMP * n * (2 * n + 12) + FLAT * (n + 6) / n


def through(x, blocks, skip=1.0):
    """Equation (1), block by block, from h = e x."""
    h = FLAT * x
    for v, c in blocks:
        h = skip * h + v * np.maximum(h - c, 0.0)
    return h


def build(n):
    """Pairs (v, c) of the staircase, then of its levels."""
    knots = [k for i in range(1, n) for k in ((i / n - RAMP, 1 / RAMP), (i / n, FLAT))]
    slopes = [FLAT, *(slope for _, slope in knots)]
    blocks = [(slopes[i + 1] / slopes[i] - 1, FLAT * knots[i][0]) for i in reversed(range(len(knots)))]
    middle = (np.arange(n) + 0.5) / n
    level, value = through(middle, blocks), target(middle) - DOWN
    for i in reversed(range(n)):
        cut = (level[i] + level[i - 1]) / 2 if i else level[0] - 0.5
        blocks.append(((value[i] - level[i]) / (level[i] - cut), cut))
    return blocks


def errors(skip, plateaus):
    """Mean distances over [0, 1]."""
    x = (np.arange(20000) + 0.5) / 20000
    return np.array([np.abs(through(x, build(n), skip) + DOWN - target(x)).mean() for n in plateaus])


observed = partial(errors, skip=1.0)  # With the skip.
control = partial(errors, skip=0.0)  # The same units without it.

CLAIM = Claim(
    id="resnet-one-neuron-universal",
    title="Residual blocks with one hidden unit approximate every function of one variable in the mean",
    equation=r"\overline{|f - f_N|} \le L / 4N + O(\delta N^2)",
    source=Source("theorem", "lin2018resnet"),
    premises=(Premise("blocks have a skip connection"),),
    parameters={"plateaus": (8, 16, 32, 64)},
    judge=bounded_by(tight=0.9),
    remark="By construction, in one dimension; the theorem is for every number of inputs.",
)
