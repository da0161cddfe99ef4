"""In one dimension, gradient descent with small steps never crosses a maximum of the loss.

In one dimension the flow w' = -h'(w) cannot cross a zero of h'. For the tilted double well h = (w^2 - 1)^2 / 4 + c w

    starts below the middle root of w^3 - w + c = 0 end in the left well, starts above it in the right one     (1)
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(tilts, seed):
    """Returns random tilts c, small enough to keep two wells."""
    return np.random.default_rng(seed).uniform(-0.3, 0.3, tilts)


def predicted(tilts, seed):
    """Returns the middle root of w^3 - w + c for each tilt: the maximum between the wells."""
    return [np.sort(np.roots([1, 0, -1, c]).real)[1] for c in problem(tilts, seed)]


def boundary(tilts, steps, seed, momentum, speed):
    """Returns the starting point that separates runs that end left from runs that end right, by bisection."""
    c = problem(tilts, seed)
    low, high = np.full(tilts, -1.0), np.full(tilts, 1.0)
    for _ in range(25):
        start = w = (low + high) / 2
        step = speed
        for _ in range(steps):
            step = momentum * step - 0.05 * (w**3 - w + c)
            w = w + step
        low, high = np.where(w < 0, start, low), np.where(w < 0, high, start)
    return (low + high) / 2


observed = partial(boundary, momentum=0.0, speed=0.0)  # The test uses small steps without momentum.
control = partial(boundary, momentum=0.9, speed=0.03)  # Control: momentum and initial speed carry it over the maximum.

CLAIM = Claim(
    id="gradient-flow-init-dependence",
    question="How does the start decide where gradient descent ends?",
    equation=r"w_0 < w_u \Rightarrow w_\infty < w_u, \quad h'(w_u) = 0, \ h''(w_u) < 0",
    axes=("tilt of the double well", "boundary between the two basins"),
    source=Source("derived"),
    premises=(
        Premise("the steps are small and have no momentum"),
        Premise(
            "runs are long enough to leave the boundary: a distance of 1e-6 grows to 1",
            lambda steps: 1e-6 * 1.0328**steps > 1,  # distances grow by 1.0328 per step at the largest tilt
        ),
    ),
    grid={"steps": (150, 450, 600, 900, 1800)},
    parameters={"tilts": 20, "steps": 600},
    full={"tilts": 200, "steps": 3000},
    judge=equals(within=1e-6, because="25 halvings of the interval [-1, 1] end at 6e-8"),
)
