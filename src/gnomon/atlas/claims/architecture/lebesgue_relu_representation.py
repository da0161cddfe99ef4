"""A continuous piecewise linear function of m pieces is a line and m - 1 relu units, exactly.

    g(x) = a x + b + sum over i < m of c_i relu(x - x_i),    c_i the change of slope at the knot x_i          (1)

Reference: [lebesgue1898approximation].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(pieces, seed):
    """Knots and values, and points where the function is looked at."""
    rng = np.random.default_rng(seed)
    knots = np.linspace(-1, 1, pieces + 1) + rng.uniform(-0.8, 0.8, pieces + 1) / pieces
    return knots, rng.normal(size=pieces + 1), rng.uniform(knots[0], knots[-1], 400)


def predicted(pieces, seed):
    """The function itself, between its knots."""
    knots, values, x = problem(pieces, seed)
    return np.interp(x, knots, values)


def network(jump, pieces, seed):
    """The line and the units of (1), by torch; ``jump`` is added to the value right of the middle knot."""
    knots, values, x = problem(pieces, seed)
    slopes = np.diff(values) / np.diff(knots)
    hidden = torch.relu(torch.from_numpy(x[:, None] - knots[1:-1]))
    line = values[0] + slopes[0] * (x - knots[0])
    return line + (hidden @ torch.from_numpy(np.diff(slopes))).numpy() + jump * (x > knots[len(knots) // 2])


observed = partial(network, jump=0.0)  # A continuous function.
control = partial(network, jump=0.5)  # The same with a jump, which no relu units have.

CLAIM = Claim(
    id="lebesgue-relu-representation",
    title="A piecewise linear function of m pieces is a line and m - 1 relu units",
    equation=r"g(x) = a x + b + \sum_{i=1}^{m-1} c_i (x - x_i)_+",
    source=Source("theorem", "lebesgue1898approximation"),
    premises=(Premise("the function is continuous"),),
    parameters={"pieces": 12},
    full={"pieces": 200},
    judge=equals(rounding=1e6),  # changes of slope cancel: 200 of up to 6 / 0.002 over values of about 3
)
