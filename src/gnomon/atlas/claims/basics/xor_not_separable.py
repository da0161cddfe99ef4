"""A line classifies at most three of the four XOR points correctly; two hidden units classify all four.

Of b > 0, w1 + w2 + b > 0, w1 + b < 0, w2 + b < 0 the first two add up to w1 + w2 + 2 b > 0, the others to < 0. So

    best accuracy of a line = 3/4,    with one hidden layer of two units = 1                             (1)
Reference: [minsky1969perceptrons].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns the best accuracies: 3/4 for a line, and 1 for a network with two hidden units."""
    return [3 / 4, 1.0]


def best_accuracies(y, units, seed):
    """Returns the best accuracy of random lines, then of random pairs of lines combined by a random third line."""
    rng = np.random.default_rng(seed)
    corners = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 1], [1, 0, 1]])
    lines = np.sign(corners @ rng.normal(size=(3, units)))  # (corner, unit)
    pairs = np.stack([lines, lines[:, rng.permutation(units)], np.ones_like(lines)], -1)
    behind = np.sign((pairs * rng.normal(size=(units, 3))).sum(-1))
    return [(lines == y[:, None]).mean(0).max(), (behind == y[:, None]).mean(0).max()]


observed = partial(best_accuracies, y=np.array([1, 1, -1, -1]))  # XOR labels.
control = partial(best_accuracies, y=np.array([-1, 1, -1, -1]))  # AND labels.

CLAIM = Claim(
    id="xor-not-separable",
    question="Why does XOR need a hidden layer?",
    equation=r"\max_{w,b} \mathrm{acc} = 3/4, \quad \max_{2\text{-}2\text{-}1} \mathrm{acc} = 1",
    axes=("best line, then best network with two hidden units", "accuracy"),
    source=Source("theorem", "minsky1969perceptrons"),
    premises=(Premise("the labels belong to XOR"), Premise("enough lines are tried", lambda units: units >= 10_000)),
    parameters={"units": 20_000},
    full={"units": 1_000_000},
    judge=equals(rounding=0),
)
