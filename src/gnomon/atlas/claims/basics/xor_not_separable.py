"""A line gets three of the four points of XOR right, never four; two hidden units are enough.

Four conditions b > 0, w1 + w2 + b > 0, w1 + b < 0, w2 + b < 0: the first two add up to w1 + w2 + 2 b > 0, the last two
to the opposite. So

    best accuracy of a line = 3/4,    with one hidden layer of two units = 1                             (1)

Reference: [minsky1969perceptrons].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Equation (1)."""
    return [3 / 4, 1.0]


def best(y, units, seed):
    """The best accuracy on the four corners of random lines, and of random pairs of them with a random line behind."""
    rng = np.random.default_rng(seed)
    corners = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 1], [1, 0, 1]])
    lines = np.sign(corners @ rng.normal(size=(3, units)))  # (corner, unit)
    pairs = np.stack([lines, lines[:, rng.permutation(units)], np.ones_like(lines)], -1)
    behind = np.sign((pairs * rng.normal(size=(units, 3))).sum(-1))
    return [(lines == y[:, None]).mean(0).max(), (behind == y[:, None]).mean(0).max()]


observed = partial(best, y=np.array([1, 1, -1, -1]))  # The labels of XOR.
control = partial(best, y=np.array([-1, 1, -1, -1]))  # The labels of AND.

CLAIM = Claim(
    id="xor-not-separable",
    title="A line gets three quarters of XOR right, one hidden layer of two units all of it",
    equation=r"\max_{w,b} \mathrm{acc} = 3/4, \quad \max_{2\text{-}2\text{-}1} \mathrm{acc} = 1",
    source=Source("theorem", "minsky1969perceptrons"),
    premises=(
        Premise("the labels are those of XOR"),
        Premise("enough lines are tried", lambda units: units >= 10_000),
    ),
    parameters={"units": 20_000},
    full={"units": 1_000_000},
    judge=equals(rounding=0),
)
