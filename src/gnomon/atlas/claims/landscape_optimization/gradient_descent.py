"""On a quadratic loss with Hessian eigenvalues l, a step multiplies the error by at most max |1 - lr l|.

For h = (1/2) (x - x*)^T H (x - x*) a step is x' - x* = (1 - lr H) (x - x*), so with the eigenvalues lambda_i of H

    |x' - x*| / |x - x*| <= max_i |1 - lr lambda_i|                                                      (1)

The ratio tends to the right side, because only the slowest direction remains: after 60 steps the others, with rates of
at most 0.7 compared with 0.85, are (0.7 / 0.85)^60 = 1e-5 of it.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, bounded_by


def problem(d, seed):
    """Returns a matrix with eigenvalues 1 and 2 to 10 in random directions, the minimum, and the learning rate."""
    rng = np.random.default_rng(seed)
    q = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return q @ np.diag([1.0, *np.linspace(2, 10, d - 1)]) @ q.T, rng.normal(size=d), 0.15


def predicted(d, steps, seed):
    """Returns the largest |1 - lr l| over the Hessian's eigenvalues l, once for every step."""
    h, _, lr = problem(d, seed)
    return np.full(steps, np.abs(1 - lr * np.linalg.eigvalsh(h)).max())


def ratios(loss, d, steps, seed):
    """Returns the distance to the minimum after each step of torch's SGD divided by the distance before it."""
    h, end, lr = (torch.as_tensor(v) for v in problem(d, seed))
    x = (end + 3 * torch.randn(d, dtype=torch.float64)).requires_grad_()
    optimizer = torch.optim.SGD([x], lr=float(lr))
    distances = [float((x - end).norm().detach())]
    for _ in range(steps):
        optimizer.zero_grad()
        loss((x - end) @ h @ (x - end) / 2).backward()
        optimizer.step()
        distances.append(float((x - end).norm().detach()))
    return np.array(distances[1:]) / np.array(distances[:-1])


observed = partial(ratios, loss=lambda q: q)  # The quadratic.
control = partial(ratios, loss=lambda q: (1 + 2 * q).sqrt() - 1)  # Control: same curvature at 0, less elsewhere.

CLAIM = Claim(
    id="gradient-descent",
    question="How fast does gradient descent converge on a quadratic?",
    equation=r"\|\theta_{t+1} - \theta^*\| \le \max_i |1 - \eta \lambda_i| \, \|\theta_t - \theta^*\|",
    axes=("step", "distance to the minimum / distance one step before"),
    source=Source("derived"),
    premises=(Premise("the loss is quadratic"),),
    parameters={"d": 10, "steps": 60},
    full={"d": 100, "steps": 60},
    judge=bounded_by("above", rounding=1e6, tight=0.99),  # tolerance: distances are differences of much larger numbers
)
