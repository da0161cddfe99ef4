"""With Nesterov's momentum the number of steps grows as the square root of the condition number.

y = x_t + b (x_t - x_{t-1}), x_{t+1} = y - grad h(y) / L, with b = (sqrt k - 1) / (sqrt k + 1) and k = L / mu for
curvatures mu to L. On a quadratic the slowest direction has the double root

    r = 1 - 1 / sqrt(k),    so that the steps to a fixed accuracy grow as k^1/2                          (1)

Plain descent at the rate 1 / L has r = 1 - 1 / k and needs a number of steps that grows as k.
Reference: [nesterov2018lectures], Section 2.2.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, rate_is


def predicted():
    """Returns 1/2, the exponent of the condition number in the number of steps."""
    return 0.5


def counts(conditions, factor, seed):
    """Returns the number of steps to 1e-8 of the initial distance, at ``factor`` times Nesterov's momentum."""
    start, steps = np.random.default_rng(seed).normal(size=20), []
    for k in conditions:
        curvatures, beta = np.geomspace(1 / k, 1, 20), factor * (k**0.5 - 1) / (k**0.5 + 1)
        x, before, t = start, start, 0
        while (x**2).sum() > 1e-16 * (start**2).sum():
            y = x + beta * (x - before)
            before, x, t = x, y - curvatures * y, t + 1
        steps.append(t)
    return conditions, steps


observed = partial(counts, factor=1.0)  # Nesterov's momentum.
control = partial(counts, factor=0.0)  # No momentum.

CLAIM = Claim(
    id="nesterov-acceleration",
    question="How much does Nesterov's momentum accelerate descent?",
    equation=r"\|\theta_t - \theta^*\| = O\big(t (1 - \sqrt{\mu / L})^t\big), \quad t_\epsilon \sim \sqrt{L / \mu}",
    axes=("condition number k", "steps to accuracy 1e-8"),
    source=Source("theorem", "nesterov2018lectures", "Section 2.2"),
    premises=(Premise("the momentum is (sqrt k - 1) / (sqrt k + 1)"),),
    parameters={"conditions": (50, 100, 200, 400, 800)},
    full={"conditions": (100, 300, 1000, 3000, 10_000)},
    judge=rate_is(
        confidence=0.999,
        within=0.05,
        because="the double root adds log t to the 18 of log 1e8",
        label="condition number",
    ),
)
