"""A mean over ReLU units is approximated by m of them, one from each cell of their parameters, at a better rate.

    f = nu mean over P of a(w, b)(w.x - b)_+,    sup |f - f_m| <= c nu sqrt(d + log m) m^(-1/2 - 1/d)         (1)

Units drawn independently have m^(-1/2). The factor nu is sometimes left out.
Reference: [klusowski2018approximation].
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """The power of m in two dimensions."""
    return -1.0


def mean_of(units, x):
    """Of the units with parameters (angle, bias) in the unit square at the points x."""
    angle, bias = units[:, 0], units[:, 1]
    w = np.stack([angle, 1 - angle], 1)  # |w|_1 = 1
    sign = np.sin(2 * np.pi * angle) + np.cos(3 * bias)
    return np.maximum(x @ w.T - bias, 0.0) @ sign / len(units)


def cells(side, generator):
    """One point of each of side^2 cells; their middles without a generator."""
    corner = np.stack(np.meshgrid(np.arange(side), np.arange(side)), -1).reshape(-1, 2)
    return (corner + (0.5 if generator is None else generator.uniform(size=corner.shape))) / side


def errors(stratified, repeats, seed):
    """The largest error on a grid of points, for 16 to 1,024 units."""
    rng = np.random.default_rng(seed)
    grid = np.linspace(0, 1, 16)
    x = np.stack(np.meshgrid(grid, grid), -1).reshape(-1, 2)
    exact, sides = mean_of(cells(160, None), x), (4, 8, 16, 32)
    draw = (lambda s: cells(s, rng)) if stratified else (lambda s: rng.uniform(size=(s * s, 2)))
    rows = [[np.abs(mean_of(draw(s), x) - exact).max() for s in sides] for _ in range(repeats)]
    return np.array(sides, dtype=float) ** 2, np.array(rows)


observed = partial(errors, stratified=True)  # From cells.
control = partial(errors, stratified=False)  # Independently.

CLAIM = Claim(
    id="barron-linf-klusowski",
    title="ReLU units from all cells of their parameters approximate at rate m^(-1/2 - 1/d)",
    equation=r"\sup |f - f_m| \le c\, \nu \sqrt{d + \log m}\; m^{-1/2 - 1/d}",
    source=Source("theorem", "klusowski2018approximation"),
    premises=(Premise("one unit is drawn from each cell of the parameters"),),
    parameters={"repeats": 12},
    full={"repeats": 60},
    judge=rate_is(within=0.08, because="the factor sqrt(2 + log m) between 16 and 1,024 units"),
)
