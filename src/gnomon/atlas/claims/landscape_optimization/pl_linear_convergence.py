"""If half the squared gradient is >= mu (loss - minimum), descent at rate 1/L shrinks loss - minimum by 1 - mu/L.

A step lowers the loss h by at least |grad h|^2 / (2 L) >= (mu / L) (h - h*), so

    h(x_{t+1}) - h* <= (1 - mu / L) (h(x_t) - h*)                                                        (1)

h* is the minimum. Underdetermined least squares reaches (1 - mu / L)^2; x^2 + 3 sin(x)^2 has mu = 1/32 and L = 8.
Reference: [karimi2016linear], Theorem 1.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(n, d, seed):
    """Returns a wide matrix with squared singular values from 1 to 10, targets and a start."""
    rng = np.random.default_rng(seed)
    u, _, v = np.linalg.svd(rng.normal(size=(n, d)), full_matrices=False)
    return u * np.sqrt(np.linspace(1, 10, n)) @ v, rng.normal(size=n), rng.normal(size=d)


def predicted(n, d, steps, seed):
    """Returns the factor 1 - mu / L by which both losses must shrink, for each step."""
    s = np.linalg.svd(problem(n, d, seed)[0])[1] ** 2
    return np.stack([np.full(steps, 1 - s[-1] / s[0]), np.full(steps, 1 - 1 / 32 / 8)])


def ratios(power, n, d, steps, seed):
    """Returns (loss - minimum) after each step divided by its value before, for both losses."""
    a, b, x = problem(n, d, seed)
    # Residuals r stay below 1/2, so the curvature 3 r^2 of the control's fourth powers is below 1, and L is the same.
    x, place, rows = np.linalg.pinv(a) @ b + 0.5 * x / np.abs(a @ x).max(), 3.0, []
    for _ in range(steps + 1):
        r = a @ x - b
        rows.append(((np.abs(r) ** power).sum() / power, place**2 + 3 * np.sin(place) ** 2))
        x = x - 0.1 * a.T @ (np.abs(r) ** (power - 1) * np.sign(r))
        place -= (2 * place + 3 * np.sin(2 * place)) / 8
    h = np.array(rows)
    return (h[1:] / np.maximum(h[:-1], 1e-300)).T


observed = partial(ratios, power=2)  # Squares.
control = partial(ratios, power=4)  # Control: the loss is a sum of fourth powers, which is flat at its minimum.

CLAIM = Claim(
    id="pl-linear-convergence",
    question="How fast does gradient descent converge without convexity?",
    equation=r"h(\theta_{t+1}) - h^* \le (1 - \mu / L) (h(\theta_t) - h^*)",
    axes=("step (least squares, then the curve)", "height of the loss / height one step before"),
    source=Source("theorem", "karimi2016linear", "Theorem 1"),
    premises=(
        Premise("half the squared gradient is at least mu (h - h*)"),
        Premise("the gradient is Lipschitz with constant L and the rate is 1 / L"),
    ),
    parameters={"n": 5, "d": 12, "steps": 100},
    full={"n": 30, "d": 60, "steps": 120},
    judge=bounded_by("above", rounding=1e5, tight=0.89),
    remark="Often misprinted with h(theta_t) on both sides.",
)
