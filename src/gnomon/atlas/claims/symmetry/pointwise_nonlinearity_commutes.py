"""An activation applied to each value separately commutes with every deformation of the positions.

    r(x o t) = r(x) o t   for all maps t of places   <=>   r acts point by point                                   (1)

x is a signal, t a map of positions, r the activation. Reference: [mallat2016understanding].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def gap(activation, n, seed):
    """Returns the largest difference between both orders (activation, deformation), for each random deformation."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    maps = [np.sort(rng.integers(0, n, size=n)) for _ in range(5)]
    return [float(np.abs(activation(x[t]) - activation(x)[t]).max()) for t in maps]


def predicted():
    """Returns 0, the difference between deforming before and after the activation, for each deformation."""
    return [0.0] * 5


observed = partial(gap, activation=lambda x: np.maximum(x, 0))  # ReLU.
# Control: the activation is the maximum of three neighboring values, so it mixes positions.
control = partial(gap, activation=lambda x: np.maximum(np.maximum(np.roll(x, 1), x), np.roll(x, -1)))

CLAIM = Claim(
    id="pointwise-nonlinearity-commutes",
    question="Which activations commute with deformations?",
    equation=r"[\rho, L_\tau] = 0",
    axes=("random map of positions", "largest difference"),
    source=Source("theorem", "mallat2016understanding"),
    premises=(Premise("the activation acts on each value separately"),),
    parameters={"n": 50},
    judge=equals(rounding=0),
)
