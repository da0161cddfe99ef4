"""Some nonconvex losses satisfy the PL inequality: half the squared gradient is at least mu (loss - minimum).

For h = |A x - b|^2 / 2 with fewer rows than columns, |grad h|^2 = |A^T r|^2 >= sigma_min^2 |r|^2 = 2 sigma_min^2 h:

    |grad h|^2 / 2 >= mu (h - h*),    mu = sigma_min(A)^2                                                (1)

h* is the minimum. This is the Polyak-Lojasiewicz (PL) inequality. It also holds for x^2 + 3 sin(x)^2, which is not
convex, with mu = 0.1755, the smallest value of the quotient (1/32 in the reference).
Reference: [karimi2016linear], Section 2.2.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(n, d, places, seed):
    """Returns a wide matrix, targets, points, and numbers on a line."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(n, d)), rng.normal(size=n)
    x = rng.normal(size=(places, d)) * 3
    u, s, v = np.linalg.svd(a, full_matrices=False)
    x[0] = np.linalg.pinv(a) @ b + v[-1]
    return a, b, x, np.linspace(-10, 10, 2 * places) + 1e-3


def predicted(n, d, places, seed):
    """Returns the constant mu of the PL (Polyak-Lojasiewicz) inequality for both losses."""
    a = problem(n, d, places, seed)[0]
    return np.r_[np.full(places, np.linalg.svd(a)[1][-1] ** 2), np.full(2 * places, 0.1755)]


def quotients(height, n, d, places, seed):
    """Returns half the squared gradient divided by (loss - minimum), for least squares and x^2 + height sin(x)^2."""
    a, b, x, line = (torch.from_numpy(v) for v in problem(n, d, places, seed))
    x.requires_grad_(), line.requires_grad_()
    h = (x @ a.T - b).square().sum(1) / 2, line**2 + height * line.sin() ** 2
    g = torch.autograd.grad(h[0].sum(), x)[0].square().sum(1), torch.autograd.grad(h[1].sum(), line)[0] ** 2
    return torch.cat([slope / (2 * value) for slope, value in zip(g, h, strict=True)])


observed = partial(quotients, height=3)  # The loss is x^2 + 3 sin(x)^2, whose only critical point is 0.
control = partial(quotients, height=10)  # Control: x^2 + 10 sin(x)^2, which has other minima than 0.

CLAIM = Claim(
    id="pl-inequality",
    question="Can a nonconvex loss still be easy to minimize?",
    equation=r"\tfrac12 \|\nabla h\|^2 \ge \mu (h - h^*)",
    axes=("point of the loss", "half the squared gradient / height above the minimum"),
    source=Source("theorem", "karimi2016linear", "Section 2.2"),
    premises=(
        Premise("every critical point is a lowest point"),
        Premise("A has fewer rows than columns", lambda n, d: n < d),
    ),
    parameters={"n": 5, "d": 12, "places": 2000},
    full={"n": 30, "d": 60, "places": 20_000},
    judge=bounded_by("below", rounding=1e5, tight=0.999),
)
