"""Momentum b multiplies steady steps by 1/(1 - b); on a quadratic of condition k errors shrink like 1 - 2/sqrt(k).

x' = x - lr g + b (x - x_before). For a constant gradient g step t is -lr g (1 + b + ... + b^t), so

    step_t = -lr g (1 - b^(t+1)) / (1 - b)                                                               (1)

With lr = 4 / (sqrt L + sqrt mu)^2 and b = ((sqrt k - 1) / (sqrt k + 1))^2, for curvatures mu to L and k = L / mu, all
roots of the recursion have size r = sqrt(b), the outer ones double. So errors after T steps have the T-th root r (up to
T^(1/T)). Reference: [polyak1964some].
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals

STEP_COUNT = 1000


def predicted(beta, condition):
    """Returns fifty step lengths for a constant gradient, then the factor by which errors shrink per step."""
    root = condition**0.5
    return np.r_[(1 - beta ** np.arange(1, 51)) / (1 - beta), (root - 1) / (root + 1)]


def run(lr, momentum, curvatures, steps):
    """Returns the positions of torch's SGD on a slope (curvature 0, gradient 1) or on parabolas."""
    x = torch.ones(len(curvatures), dtype=torch.float64, requires_grad=True)
    optimizer, places = torch.optim.SGD([x], lr=lr, momentum=momentum), [1.0]
    for _ in range(steps):
        x.grad = torch.where(curvatures == 0, torch.ones_like(x), curvatures * x.detach())
        optimizer.step()
        places.append(float(x.detach().norm()) if len(x) > 1 else float(x.detach()))
    return np.array(places)


def steps_and_factor(beta, condition, kept):
    """Returns step lengths on a slope, then the errors' mean factor per step; ``kept`` multiplies momenta."""
    slope = run(1.0, kept * beta, torch.zeros(1, dtype=torch.float64), 50)
    root = condition**0.5
    best, lr = kept * ((root - 1) / (root + 1)) ** 2, 4 / (root + 1) ** 2 if kept else 2 / (condition + 1)
    end = run(lr, best, torch.linspace(1, condition, 10, dtype=torch.float64), STEP_COUNT)[-1]
    return np.r_[-np.diff(slope), end ** (1 / STEP_COUNT)]


observed = partial(steps_and_factor, kept=1.0)  # With momentum.
control = partial(steps_and_factor, kept=0.0)  # Control: descent without momentum, at its own best learning rate.

CLAIM = Claim(
    id="heavy-ball-momentum",
    question="How much does momentum accelerate gradient descent?",
    equation=r"\Delta_t = -\eta g \sum_{\tau = 0}^{t} \beta^\tau \to -\eta g / (1 - \beta)",
    axes=("step on a slope, then convergence factor", "step length; factor"),
    source=Source("theorem", "polyak1964some"),
    premises=(Premise("each step keeps b times the previous one"),),
    parameters={"beta": 0.9, "condition": 100.0},
    judge=equals(
        within=0.01, because="a double root gives errors up to 10 T r^T, and (10 T)^(1/T) = 1.009 at T = 1000"
    ),
    remark="The sum runs from 0 to t; it is often misprinted from 1 to t - 1.",
)
