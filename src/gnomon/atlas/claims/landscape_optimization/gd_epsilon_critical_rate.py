"""With learning rate 1 / L, the smallest gradient norm of the first T steps is at most of order T^-1/2.

Each step lowers an L-smooth loss h by at least |grad h|^2 / (2 L), and h cannot fall below its infimum h*, so

    min_{t < T} |grad h(x_t)| <= sqrt(2 L (h_0 - h*) / T)                                                (1)

The second example is a curve whose slope goes from s to s/2 and back to s within each step of length s / L, with
curvatures +-L. Each step lowers it only by (3/4) s^2 / L, so it reaches sqrt(2/3) of the bound after ``steps`` steps,
when the curve ends; as many steps follow. Reference: [nesterov2018lectures], Section 1.2.3.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(n, d, seed):
    """Returns data of a robust regression, mean of r^2 / (1 + r^2), and initial weights."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=d)


def predicted(n, d, steps, seed):
    """Returns the bound on the smallest gradient after every step, for a robust regression and the worst curve."""
    x, y, w = problem(n, d, seed)
    r = x @ w - y
    t = np.arange(1, 2 * steps + 1)
    regression = np.sqrt(2 * (2 * np.linalg.norm(x, 2) ** 2 / n) * (r**2 / (1 + r**2)).mean() / t)
    return np.stack([regression, np.sqrt(2 * (0.75 * steps + 0.5) / t)])


def smallest_gradients(scale, n, d, steps, seed):
    """Returns the smallest gradient norm so far, at ``scale`` times the learning rate 1 / L."""
    x, y, w = problem(n, d, seed)
    place, rows = float(steps), []
    for _ in range(2 * steps):
        r = x @ w - y
        g = x.T @ (2 * r / (1 + r**2) ** 2) / n
        slope = 1 - abs(place - round(place)) if place > 0 else max(1 + place, 0.0)
        rows.append((np.linalg.norm(g), slope))
        w, place = w - scale * g / (2 * np.linalg.norm(x, 2) ** 2 / n), place - scale * slope
    return np.minimum.accumulate(np.array(rows).T, axis=1)


observed = partial(smallest_gradients, scale=1.0)  # The learning rate is 1 / L, for the smoothness constant L.
control = partial(smallest_gradients, scale=1e-6)  # Control: at a millionth of 1 / L, descent stays near its start.

CLAIM = Claim(
    id="gd-epsilon-critical-rate",
    question="How fast does gradient descent find a small gradient?",
    equation=r"\min_{t < T} \|\nabla h(\theta_t)\| \le \sqrt{2 L (h_0 - h^*) / T}",
    axes=("number of steps T (regression, then the worst curve)", "smallest gradient norm so far"),
    source=Source("theorem", "nesterov2018lectures", "Section 1.2.3"),
    premises=(Premise("the learning rate is 1 / L"), Premise("the gradient is Lipschitz with constant L")),
    parameters={"n": 20, "d": 5, "steps": 200},
    full={"n": 100, "d": 20, "steps": 2000},
    judge=bounded_by("above", tight=0.8),
)
