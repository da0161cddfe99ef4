"""In logistic regression each point adds (sigmoid(<w, x>) - y) x to the gradient, and descent finds the only minimum.

s is the sigmoid, w the weights, and y the labels 0 or 1. With the penalty (r / 2) |w|^2 added, the cross-entropy is
strictly convex, and its minimum solves

    sum_i (s(<w, x_i>) - y_i) x_i / n + r w = 0                                                          (1)

which has no closed form. Newton's method: w <- w - H^{-1} g with H = X^T D X / n + r I, D = diag(s (1 - s)), g the
gradient. Reference: [cox1958regression].
"""

from functools import partial

import numpy as np
import torch
from torch.nn import functional

from gnomon.lab import Claim, Premise, Source, equals


def problem():
    """Returns scikit-learn's breast cancer data, standardized, with labels 0 and 1."""
    from sklearn.datasets import load_breast_cancer

    x, y = load_breast_cancer(return_X_y=True)
    return (x - x.mean(0)) / x.std(0), y.astype(float)


def predicted(ridge):
    """Returns the weights of zero gradient, by Newton's method, then the gradient of each point at zero weights."""
    x, y = problem()
    w = np.zeros(x.shape[1])
    for _ in range(30):
        s = 1 / (1 + np.exp(-x @ w))
        hessian = x.T * (s * (1 - s)) @ x / len(y) + ridge * np.eye(len(w))
        w = w - np.linalg.solve(hessian, x.T @ (s - y) / len(y) + ridge * w)
    return np.vstack([w, (0.5 - y)[:, None] * x])


def descend(ridge, steps, loss):
    """Returns the weights after accelerated gradient descent, then autograd's gradient of each point at w = 0."""
    x, y = (torch.from_numpy(v) for v in problem())
    w = torch.zeros(x.shape[1], dtype=torch.float64, requires_grad=True)
    single = torch.autograd.functional.jacobian(lambda v: loss(x @ v, y, reduction="none"), w)
    optimizer = torch.optim.SGD([w], lr=0.25, momentum=0.9, nesterov=True, weight_decay=ridge)
    for _ in range(steps):
        optimizer.zero_grad()
        loss(x @ w, y).backward()
        optimizer.step()
    return torch.vstack([w.detach(), single])


observed = partial(descend, loss=functional.binary_cross_entropy_with_logits)  # Cross-entropy.
# Control: the squared error of the probability replaces the cross-entropy.
control = partial(descend, loss=lambda z, y, **options: functional.mse_loss(z.sigmoid(), y, **options))

CLAIM = Claim(
    id="logistic-regression",
    question="What is the gradient of logistic regression, and does descent find its minimum?",
    equation=r"\nabla_w \ell_i = (\sigma(w^T x_i) - y_i) x_i",
    axes=("weights, then gradients of all points at zero", "weight; derivative"),
    source=Source("theorem", "cox1958regression"),
    premises=(Premise("the loss is the cross-entropy"), Premise("the penalty is positive", lambda ridge: ridge > 0)),
    parameters={"ridge": 0.1, "steps": 250},
    full={"ridge": 0.1, "steps": 2500},
    judge=equals(within=1e-4, because="with momentum 0.9 errors shrink by 0.95 or less per step; 0.95^250 = 3e-6"),
)
