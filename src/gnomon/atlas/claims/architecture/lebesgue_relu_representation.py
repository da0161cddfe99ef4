"""A continuous piecewise linear function with m pieces is exactly a line plus m - 1 ReLU units.

    g(x) = a x + b + sum over i < m of c_i relu(x - x_i),    c_i the change of slope at the knot x_i          (1)

x_i are the knots, c_i is the change of slope at x_i, and a x + b continues the first piece.
Reference: [lebesgue1898approximation].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(pieces, seed):
    """Returns random knots, random values at the knots, and 400 points at which both functions are compared."""
    rng = np.random.default_rng(seed)
    knots = np.linspace(-1, 1, pieces + 1) + rng.uniform(-0.8, 0.8, pieces + 1) / pieces
    return knots, rng.normal(size=pieces + 1), rng.uniform(knots[0], knots[-1], 400)


def predicted(pieces, seed):
    """Returns the linear interpolation between the knots, at the 400 points."""
    knots, values, x = problem(pieces, seed)
    return np.interp(x, knots, values)


def network(jump, pieces, seed):
    """Returns the function as a line plus ReLU units; adds ``jump`` to the right of the middle knot."""
    knots, values, x = problem(pieces, seed)
    slopes = np.diff(values) / np.diff(knots)
    hidden = torch.relu(torch.from_numpy(x[:, None] - knots[1:-1]))
    line = values[0] + slopes[0] * (x - knots[0])
    return line + (hidden @ torch.from_numpy(np.diff(slopes))).numpy() + jump * (x > knots[len(knots) // 2])


observed = partial(network, jump=0.0)  # A continuous function.
control = partial(network, jump=0.5)  # Control: the function has a jump, which no sum of ReLU units equals.

CLAIM = Claim(
    id="lebesgue-relu-representation",
    question="Can ReLU units represent every piecewise linear function?",
    equation=r"g(x) = a x + b + \sum_{i=1}^{m-1} c_i (x - x_i)_+",
    axes=("random point of the interval", "g(x)"),
    source=Source("theorem", "lebesgue1898approximation"),
    premises=(Premise("the function is continuous"),),
    parameters={"pieces": 12},
    full={"pieces": 200},
    judge=equals(rounding=1e6),  # tolerance: slope changes of up to 6000 cancel to values of 3 and amplify rounding
)
