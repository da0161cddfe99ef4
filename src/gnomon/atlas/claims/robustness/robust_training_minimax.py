"""A linear classifier's worst loss within eps is its loss at a margin smaller by eps times the dual norm.

    max over |e|_p <= eps of l(y (w (x + e) + b)) = l(y (w x + b) - eps |w|_q),     l falling, 1/p + 1/q = 1        (1)

l is a decreasing loss, x the input, y the label, w and b are the weights. So adversarial training penalizes the dual
norm inside the loss. Reference: [goodfellow2015explaining], Section 5; [madry2018towards] for the minimax problem.
"""

from functools import partial

import numpy as np

from gnomon.lab import Claim, Premise, Source, equals


def problem(d, n, seed):
    """Returns a linear classifier, inputs and labels."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=d), rng.normal(), rng.normal(size=(n, d)), rng.choice([-1.0, 1.0], size=n)


def predicted(d, n, eps, seed):
    """Returns the worst logistic loss within eps, for the largest-entry norm and the Euclidean norm."""
    w, b, x, y = problem(d, n, seed)
    m = y * (x @ w + b)
    return np.r_[np.log1p(np.exp(-m + eps * np.abs(w).sum())), np.log1p(np.exp(-m + eps * np.linalg.norm(w)))]


def worst_losses(loss, d, n, eps, steps, seed):
    """Returns the largest loss that projected gradient ascent finds, for each example and norm."""
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


observed = partial(worst_losses, loss=lambda m: np.log1p(np.exp(-m)))  # The logistic loss.
control = partial(worst_losses, loss=lambda m: (1 - m) ** 2)  # Control: (1 - m)^2 rises again beyond the margin m = 1.

CLAIM = Claim(
    id="robust-training-minimax",
    question="What does adversarial training of a linear classifier minimize?",
    equation=r"\max_{\|\eta\|_p \le \epsilon} \ell(y(w^T(x + \eta) + b)) = \ell(y(w^T x + b) - \epsilon \|w\|_q)",
    axes=("example (largest-entry norm, then Euclidean)", "worst loss"),
    source=Source("theorem", "madry2018towards", "equation 2.1, for a linear model"),
    premises=(Premise("the loss falls with the margin"),),
    parameters={"d": 10, "n": 30, "eps": 0.2, "steps": 12},
    full={"d": 100, "n": 500, "eps": 0.2, "steps": 12},
    judge=equals(rounding=1e6),
)
