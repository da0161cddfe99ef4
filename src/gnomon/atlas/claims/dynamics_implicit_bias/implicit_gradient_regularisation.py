"""Gradient descent with step r follows the flow of loss + (r/4) |gradient|^2, up to order r^3 per step.

C is the loss, g its gradient, H its Hessian, r the learning rate. The flow of C + (r/4)|g|^2 has velocity -g - (r/2) H
g. After time r it has moved by -r g - (r^2/2) H g + (r^2/2) H g + O(r^3), so

    |w - r g  -  flow of C + (r/4)|g|^2 for time r| = O(r^3),    but O(r^2) for the flow of C                (1)
Reference: [barrett2021implicit], equation 6.
"""

from functools import partial

import numpy as np
from scipy.integrate import solve_ivp

from gnomon.lab import Claim, Premise, Source, rate_is


def problem(d, seed):
    """Returns gradient and Hessian of the loss |w|^2 / 2 + sum_i cos(<b_i, w> + c_i), and a starting point."""
    rng = np.random.default_rng(seed)
    b, c = rng.normal(size=(2 * d, d)) / d**0.5, rng.uniform(0, 6.28, 2 * d)
    gradient = lambda w: w - b.T @ np.sin(b @ w + c)  # noqa: E731
    hessian = lambda w: np.eye(d) - b.T * np.cos(b @ w + c) @ b  # noqa: E731
    return gradient, hessian, 2 * rng.normal(size=d)


def predicted():
    """Returns 3, the exponent of the step size in the distance between descent and flow after one step."""
    return 3.0


def gap(d, rates, seed, share):
    """Returns the distance between one step and the flow with ``share`` of the correction, for each step size."""
    gradient, hessian, w = problem(d, seed)
    field = lambda _, v, r: -gradient(v) - share * r / 2 * hessian(v) @ gradient(v)  # noqa: E731
    flows = [solve_ivp(field, (0, r), w, args=(r,), rtol=1e-12, atol=1e-13, method="DOP853").y[:, -1] for r in rates]
    return rates, [np.linalg.norm(w - r * gradient(w) - v) for r, v in zip(rates, flows, strict=True)]


observed = partial(gap, share=1.0)  # The test compares descent with the flow of the loss plus (r/4) |gradient|^2.
control = partial(gap, share=0.0)  # Control: descent is compared with the flow of the loss alone.

CLAIM = Claim(
    id="implicit-gradient-regularisation",
    question="Which loss does gradient descent with a finite step size really minimize?",
    equation=r"\dot w = -\nabla (C + \tfrac{r}{4} \|\nabla C\|^2), \quad \text{error } O(r^3) \text{ per step}",
    axes=("learning rate r", "distance between one step and the flow"),
    source=Source("theorem", "barrett2021implicit", "Theorem 3.1"),
    premises=(Premise("the flow belongs to C + (r/4) |g|^2"), Premise("the loss is smooth")),
    parameters={"d": 5, "rates": (0.0025, 0.005, 0.01, 0.02)},
    full={"d": 20, "rates": (0.001, 0.002, 0.004, 0.008, 0.016)},
    judge=rate_is(next_order=1.0, label="step size"),
    remark="The correction of the velocity is minus the gradient of |gradient|^2 / 4; some texts print a plus.",
)
