"""On a nonconvex loss, gradient descent finds a point of zero gradient, which may not be the lowest minimum.

V(x) = (x^2 - 1)^2 + x / 4 + c, with lowest value 0, has a second minimum x_+ at the largest root of 4 x^3 - 4 x + 1/4 =
0. Descent from the right ends there:

    V'(x_t) -> 0,    V(x_t) -> V(x_+) = 0.50                                                             (1)
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def predicted():
    """Returns the final gradient, 0, and the final value by the roots of V'."""
    low, _, high = np.sort(np.roots([4, 0, -4, 0.25]).real)
    return [0.0, (high**2 - 1) ** 2 + high / 4 - (low**2 - 1) ** 2 - low / 4]


def descend(start, steps):
    """Returns gradient and value after descent at rate 0.05, which is stable for all curvatures that occur."""
    x = start
    for _ in range(steps):
        x -= 0.05 * (4 * x * (x * x - 1) + 0.25)
    grid = np.linspace(-2, 0, 2_000_001)
    lowest = ((grid**2 - 1) ** 2 + grid / 4).min()
    return [4 * x * (x * x - 1) + 0.25, (x * x - 1) ** 2 + x / 4 - lowest]


def observed(steps, seed):
    """Returns the final gradient and value if descent starts at the right, near the higher minimum."""
    return descend(np.random.default_rng(seed).uniform(0.7, 1.2), steps)


def control(steps, seed):
    """Returns the final gradient and value if descent starts at the left, near the lowest minimum."""
    return descend(np.random.default_rng(seed).uniform(-1.2, -0.7), steps)


CLAIM = Claim(
    id="nonconvex-gd-vacuous",
    question="Does gradient descent find the lowest minimum?",
    equation=r"\inf_{t \le T} \|\nabla V(\theta_t)\| = o(1), \quad V(\theta_T) \not\to \min V",
    axes=("final gradient, then final value", "gradient; value above the lowest"),
    source=Source("theorem", "nesterov2018lectures", "Section 1.2.3"),
    premises=(Premise("descent starts near the minimum that is not the lowest"),),
    parameters={"steps": 300},
    full={"steps": 3000},
    judge=equals(within=1e-9, because="the grid misses the lowest value by 4 (1e-6)^2, descent by 0.6^300"),
    remark="Often misprinted with |V(theta_t)| for the norm of the gradient.",
)
