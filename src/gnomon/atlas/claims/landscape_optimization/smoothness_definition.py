"""Per unit of distance, the logistic loss's gradient changes by at most L = lambda_max(X^T X) / (4 n).

The Hessian is X^T D X / n with D = diag(s (1 - s)) and sigmoids s, s (1 - s) <= 1/4, so its eigenvalues are at most L:

    |grad h(a) - grad h(b)| <= L |a - b|                                                                 (1)

with equality in the limit b -> a = 0 along the largest eigenvector. Reference: [nesterov2018lectures], Section 1.2.2.
"""

import numpy as np

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(n, d, pairs, seed):
    """Returns points times labels, and pairs of weights, the first pair near zero along the top eigenvector."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d)) * np.linspace(1, 3, d)
    a, b = rng.normal(size=(2, pairs, d)) * rng.choice([0.01, 0.3, 2.0], size=(2, pairs, 1))
    top = np.linalg.svd(z)[2][0]
    a[0], b[0] = 1e-4 * top, -1e-4 * top
    return z, a, b


def predicted(n, d, pairs, seed):
    """Returns the Lipschitz constant L of the gradient, once for each pair of weights."""
    z = problem(n, d, pairs, seed)[0]
    return np.full(pairs, np.linalg.eigvalsh(z.T @ z)[-1] / (4 * n))


def observed(n, d, pairs, seed):
    """Returns the change of the logistic loss's gradient per distance, for each pair of weights."""
    z, a, b = problem(n, d, pairs, seed)
    slope = (1 / (1 + np.exp(b @ z.T)) - 1 / (1 + np.exp(a @ z.T))) @ z / n
    return np.linalg.norm(slope, axis=1) / np.linalg.norm(a - b, axis=1)


def control(n, d, pairs, seed):
    """Returns the change of the exponential loss's gradient per distance; its curvature is unbounded."""
    z, a, b = problem(n, d, pairs, seed)
    slope = (np.exp(-b @ z.T) - np.exp(-a @ z.T)) @ z / n
    return np.linalg.norm(slope, axis=1) / np.linalg.norm(a - b, axis=1)


CLAIM = Claim(
    id="smoothness-definition",
    question="How fast can the gradient of the logistic loss change?",
    equation=r"\|\nabla h(a) - \nabla h(b)\| \le \frac{\lambda_{\max}(X^T X)}{4 n} \|a - b\|",
    axes=("pair of weight vectors", "change of the gradient / distance"),
    source=Source("theorem", "nesterov2018lectures", "Section 1.2.2"),
    premises=(Premise("the loss is log(1 + e^-z)"),),
    parameters={"n": 50, "d": 5, "pairs": 3000},
    full={"n": 500, "d": 20, "pairs": 10_000},
    judge=bounded_by("above", rounding=1e7, tight=0.999),  # tolerance: differences of gradients 1e-4 apart lose digits
)
