"""m ReLU units of two inputs, one drawn from each cell of parameter space, approximate with an error of order 1 / m.

    f = nu mean over P of a(w, b)(w.x - b)_+,    sup |f - f_m| <= c nu sqrt(d + log m) m^(-1/2 - 1/d)         (1)

f is a mean of ReLU units over a distribution P of weights w and biases b, with signs a(w, b) and size nu. f_m uses m of
these units, d = 2 the number of inputs, c a constant. Independent draws only reach m^(-1/2). Some texts omit the
factor nu. Reference: [klusowski2018approximation].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns the exponent of the number of units m in the error bound m^(-1/2 - 1/d), for d = 2 inputs."""
    return -1.0


def mean_of(units, x):
    """Returns the mean output of ReLU units at points x; each unit is a pair (angle, bias) in the unit square."""
    angle, bias = units[:, 0], units[:, 1]
    w = np.stack([angle, 1 - angle], 1)  # |w|_1 = 1
    sign = np.sin(2 * np.pi * angle) + np.cos(3 * bias)
    return np.maximum(x @ w.T - bias, 0.0) @ sign / len(units)


def cells(side, generator):
    """Returns a random point in each of side^2 cells of the unit square, or without a generator the centers."""
    corner = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)
    return (corner + (0.5 if generator is None else generator.uniform(size=corner.shape))) / side


def errors(stratified, repeats, seed):
    """Returns the largest approximation error on a grid of inputs, for 16, 64, 256 and 1,024 ReLU units."""
    rng = np.random.default_rng(seed)
    grid = np.linspace(0, 1, 16)
    x = np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)
    exact, sides = mean_of(cells(160, None), x), (4, 8, 16, 32)
    draw = (lambda s: cells(s, rng)) if stratified else (lambda s: rng.uniform(size=(s * s, 2)))
    rows = [[np.abs(mean_of(draw(s), x) - exact).max() for s in sides] for _ in range(repeats)]
    return np.array(sides, dtype=float) ** 2, np.array(rows)


observed = partial(errors, stratified=True)  # The test draws one hidden unit from each cell of parameter space.
control = partial(errors, stratified=False)  # Independent draws.

CLAIM = Claim(
    id="barron-linf-klusowski",
    question="Can neurons be placed better than at random?",
    equation=r"\sup |f - f_m| \le c\, \nu \sqrt{d + \log m}\; m^{-1/2 - 1/d}",
    axes=("number of units m", "largest error of the approximation"),
    source=Source("theorem", "klusowski2018approximation"),
    premises=(Premise("one unit is drawn from each cell of parameter space"),),
    parameters={"repeats": 40},
    full={"repeats": 60},
    judge=rate_is(within=0.08, because="the factor sqrt(2 + log m) between 16 and 1,024 units"),
)
