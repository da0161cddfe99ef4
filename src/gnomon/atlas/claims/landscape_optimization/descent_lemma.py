"""A loss whose gradient is L-Lipschitz lies below its tangent plane plus L/2 times the squared distance.

Integrating |grad h(a + t d) - grad h(a)| <= L t |d| over t from 0 to 1, with d = b - a,

    2 (h(b) - h(a) - <grad h(a), d>) / |d|^2 <= L                                                        (1)

Here h is the logistic loss, with L = lambda_max(X^T X) / (4 n). Reference: [nesterov2018lectures], Lemma 1.2.3.
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(n, d, pairs, seed):
    """Returns points times labels, and pairs of weights, the first pair near zero along the top eigenvector."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, d)) * np.linspace(1, 3, d)
    a, b = rng.normal(size=(2, pairs, d)) * rng.choice([0.1, 0.3, 2.0], size=(2, pairs, 1))
    top = np.linalg.svd(z)[2][0]
    a[0], b[0] = 0.01 * top, -0.01 * top
    return torch.from_numpy(z), torch.from_numpy(a), torch.from_numpy(b)


def predicted(n, d, pairs, seed):
    """Returns the Lipschitz constant L of the logistic loss's gradient, once for each pair of weights."""
    z = problem(n, d, pairs, seed)[0].numpy()
    return np.full(pairs, np.linalg.norm(z, 2) ** 2 / (4 * n))


def curvatures(loss, n, d, pairs, seed):
    """Returns twice the gap between loss and tangent plane per squared distance, for each pair of weights."""
    z, a, b = problem(n, d, pairs, seed)
    a.requires_grad_()
    here = loss(-a @ z.T).mean(1)
    slope = torch.autograd.grad(here.sum(), a)[0]
    return 2 * (loss(-b @ z.T).mean(1) - here - (slope * (b - a)).sum(1)) / (b - a).square().sum(1)


observed = partial(curvatures, loss=functional.softplus)  # The logistic loss.
control = partial(curvatures, loss=torch.exp)  # Control: the loss is exponential, so its curvature has no bound L.

CLAIM = Claim(
    id="descent-lemma",
    question="How far can a smooth loss rise above its tangent plane?",
    equation=r"h(b) \le h(a) + \nabla h(a)^T (b - a) + \tfrac L2 \|b - a\|^2",
    axes=("pair of weight vectors", "curvature between them"),
    source=Source("theorem", "nesterov2018lectures", "Lemma 1.2.3"),
    premises=(Premise("the gradient is Lipschitz with constant L"),),
    parameters={"n": 50, "d": 5, "pairs": 3000},
    full={"n": 500, "d": 20, "pairs": 10_000},
    judge=bounded_by("above", rounding=1e7, tight=0.99),  # tolerance: differences of losses 1e-4 apart lose digits
    remark="Often misprinted with |h(a)|^2 instead of |grad h(a)|^2; only quadratics reach the parabola.",
)
