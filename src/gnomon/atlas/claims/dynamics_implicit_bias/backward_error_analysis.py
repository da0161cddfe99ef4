"""Euler's method with step r follows the modified field f - (r/2) f' f one order more accurately than the field f.

In time r (the step size) the flow of f + r f_1 moves by r f + r^2 (f_1 + f' f / 2) + O(r^3), Euler's step is r f. So

    f_1 = -(1/2) f' f,    and then the error after a fixed time is O(r^2) instead of O(r)                    (1)

The example is a pendulum, (x, v)' = (v, -sin x).
"""

from functools import partial

import numpy as np
from scipy.integrate import solve_ivp

from gnomon.lab import Claim, Premise, Source, rate_is


def problem(seed):
    """Returns a random start of the pendulum."""
    return np.random.default_rng(seed).uniform(0.5, 1.5, 2)


def predicted():
    """Returns 2, the exponent of the step size in the distance between Euler's method and the modified flow."""
    return 2.0


def gap(time, counts, seed, share):
    """Returns the distance between Euler's method and the flow of f - share (r/2) f' f, for each step size r."""
    start = problem(seed)

    def field(_, z, r):
        (x, v), c = z, share * r / 2
        return [v + c * np.sin(x), -np.sin(x) + c * np.cos(x) * v]  # (Jacobian of f) f, for f(x, v) = (v, -sin x)

    errors = []
    for count in counts:
        z, r = start, time / count
        for _ in range(count):
            z = z + r * np.array([z[1], -np.sin(z[0])])
        flow = solve_ivp(field, (0, time), start, args=(r,), rtol=1e-11, atol=1e-12, method="DOP853")
        errors.append(np.linalg.norm(z - flow.y[:, -1]))
    return [time / count for count in counts], errors


observed = partial(gap, share=1.0)  # The modified field.
control = partial(gap, share=0.0)  # Control: the pendulum's own field, without the correction -(r/2) f' f.

CLAIM = Claim(
    id="backward-error-analysis",
    question="Which differential equation does Euler's method solve more accurately than the one it is given?",
    equation=r"\tilde f = f - \tfrac{r}{2} f' f",
    axes=("step size r", "distance to the flow after a fixed time"),
    source=Source("theorem", "hairer2006geometric", "Chapter IX"),
    premises=(Premise("the field has the correction of equation (1)"),),
    parameters={"time": 1.0, "counts": (50, 84, 141, 238, 400)},
    full={"time": 2.0, "counts": (100, 200, 400, 800, 1600)},
    judge=rate_is(next_order=1.0, within=0.002, because="the order after the next, (1 / 50)^2", label="step size"),
)
