"""For a linear classifier the worst loss within eps is the loss of the margin less eps times the dual norm.

    max over |e|_p <= eps of l(y (w (x + e) + b)) = l(y (w x + b) - eps |w|_q),     l falling, 1/p + 1/q = 1        (1)

so training against attacks is training with a penalty on the dual norm inside the loss.
Reference: [goodfellow2015explaining], Section 5; [madry2018towards] for the minimax problem.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(d, n, seed):
    """A linear classifier, inputs and labels."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=d), rng.normal(), rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], size=n)


def predicted(d, n, eps, seed):
    """The right side of (1), in the largest-entry and in the Euclidean norm, for the logistic loss."""
    w, b, x, y = problem(d, n, seed)
    m = y * (x @ w + b)
    return np.r_[np.log1p(np.exp(-m + eps * np.abs(w).sum())), np.log1p(np.exp(-m + eps * np.linalg.norm(w)))]


def worst(loss, d, n, eps, steps, seed):
    """The largest loss that projected ascent finds, from the input."""
    w, b, x, y = problem(d, n, seed)
    rows = []
    for euclidean in (False, True):
        e = np.zeros_like(x)
        for _ in range(steps):
            m = y * ((x + e) @ w + b)
            h = 1e-6
            g = ((loss(m + h) - loss(m - h)) / (2 * h) * y)[:, None] * w
            if euclidean:
                z = e + eps / 4 * g / np.linalg.norm(g, axis=1, keepdims=True)
                e = z * np.minimum(1, eps / np.linalg.norm(z, axis=1, keepdims=True))
            else:
                e = np.clip(e + eps / 4 * np.sign(g), -eps, eps)
        rows.append(loss(y * ((x + e) @ w + b)))
    return np.concatenate(rows)


observed = partial(worst, loss=lambda m: np.log1p(np.exp(-m)))  # The logistic loss.
# The squared loss (1 - m)^2, which rises again beyond margin 1; the same for both sides otherwise.
control = partial(worst, loss=lambda m: (1 - m) ** 2)

CLAIM = Claim(
    id="robust-training-minimax",
    title="The worst logistic loss of a linear classifier is that of the margin less eps times the dual norm",
    equation=r"\max_{\|\eta\|_p \le \epsilon} \ell(y(w^T(x + \eta) + b)) = \ell(y(w^T x + b) - \epsilon \|w\|_q)",
    source=Source("theorem", "madry2018towards", "equation 2.1, for a linear model"),
    premises=(Premise("the loss falls with the margin"),),
    parameters={"d": 10, "n": 30, "eps": 0.2, "steps": 12},
    full={"d": 100, "n": 500, "eps": 0.2, "steps": 12},
    judge=equals(rounding=1e6),
)
