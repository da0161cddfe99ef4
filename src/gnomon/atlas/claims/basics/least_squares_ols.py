"""Gradient descent on the squared error of a linear model converges to the solution of the normal equations.

With the points as columns of X (d x n), the gradient of |X^T w - y|^2 / 2 is X X^T w - X y, which is zero at

    w = (X X^T)^{-1} X y                                                                                 (1)

Descent with step 1 / (largest eigenvalue) and momentum m multiplies every error per step by at most the largest |t|
with t^2 - (1 + m - 1/k) t + m = 0, where k is the condition number of X X^T.
Reference: [efron2004least], for the diabetes data.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem():
    """Returns the diabetes data: 10 measurements of 442 patients as columns, and the disease progression."""
    from sklearn.datasets import load_diabetes

    x, y = load_diabetes(return_X_y=True)
    return x.T, (y - y.mean()) / y.std()


def predicted():
    """Returns the solution of the normal equations."""
    x, y = problem()
    return np.linalg.solve(x @ x.T, x @ y)


def descend(steps, decay):
    """Returns the weights after gradient descent with momentum from zero, with gradients by autograd."""
    x, y = (torch.from_numpy(v) for v in problem())
    x = x.T.contiguous()
    w = torch.zeros(10, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([w], float(1 / torch.linalg.matrix_norm(x, 2) ** 2), momentum=0.91, weight_decay=decay)
    for _ in range(steps):
        optimizer.zero_grad()
        ((x @ w - y).square().sum() / 2).backward()
        optimizer.step()
    return w


observed = partial(descend, decay=0.0)  # No weight decay.
control = partial(descend, decay=0.01)  # Control: weight decay adds a penalty, so descent ends elsewhere.

CLAIM = Claim(
    id="least-squares-ols",
    question="Where does gradient descent on the squared error end?",
    equation=r"w = (X X^T)^{-1} X y, \quad X \in R^{d \times n}",
    axes=("coefficient", "value of the coefficient"),
    source=Source("theorem", "efron2004least"),
    premises=(
        Premise("the loss has no penalty"),
        Premise("X has full rank"),
        Premise("descent has converged", lambda steps: 12 * 0.046 * steps * 0.954**steps < 1e-3),
    ),
    parameters={"steps": 300},
    grid={"steps": (75, 150, 220, 300, 450, 600, 900)},
    full={"steps": 3000},
    judge=equals(
        within=1e-3, because="k = 470 and m = 0.91 give 0.954 per step: 12 x 300 (1 - 0.954) x 0.954^300 = 1e-4"
    ),
    remark="(X^T X)^{-1} X^T y is for points as rows; it is often printed next to a loss with points as columns.",
)
