"""Training with weight decay finds the most probable weights, for a Gaussian prior and Gaussian label noise.

    argmax_w log p(w | S) = argmin_w |y - X w|^2 / (2 g^2) + |w|^2 / (2 s^2) = (X^T X + (g^2 / s^2) I)^-1 X^T y  (1)

w are the weights, X the inputs, y the targets, g the standard deviation of the noise and s of the prior.
"""

from functools import partial

import torch
from sklearn.datasets import load_diabetes
from torch import nn

from gnomon.bayes import module_posterior
from gnomon.lab import Claim, Premise, Source, equals


def problem(rows):
    """Returns rows of scikit-learn's diabetes data, standardized."""
    x, y = load_diabetes(return_X_y=True)
    x, y = torch.from_numpy(x[:rows]), torch.from_numpy(y[:rows])
    return (x - x.mean(0)) / x.std(0), (y - y.mean()) / y.std()


def predicted(rows, prior, noise):
    """Returns the weights of ridge regression with penalty noise^2 / prior^2."""
    x, y = problem(rows)
    return torch.linalg.solve(x.T @ x + (noise / prior) ** 2 * torch.eye(10, dtype=x.dtype), x.T @ y)


def most_probable(rows, prior, noise):
    """Returns the weights of the largest log posterior, by one Newton step, which is exact for a quadratic function."""
    posterior = module_posterior(nn.Linear(10, 1, bias=False).double(), problem(rows), prior_std=prior, noise=noise)
    zero = torch.zeros(10, dtype=torch.float64)
    slope = torch.func.grad(posterior)(zero)
    return -torch.linalg.solve(torch.autograd.functional.hessian(posterior, zero), slope)


observed = most_probable  # The test's noise variance is the one that corresponds to the ridge penalty.
control = partial(most_probable, noise=1.0)  # Control: noise variance 1, which the usual loss |y - X w|^2 / 2 assumes.

CLAIM = Claim(
    id="map-objective",
    question="Why is weight decay a Gaussian prior?",
    equation=r"\hat\theta = \arg\min_\theta \tfrac{1}{2\gamma^2}\|y-f\|^2 + \tfrac{1}{2\sigma^2}\|\theta\|^2",
    axes=("weight", "weight at the maximum of the posterior"),
    source=Source("derived"),
    premises=(Premise("both sides use the same noise"), Premise("prior and noise are Gaussian")),
    parameters={"rows": 100, "prior": 0.5, "noise": 3.0},
    judge=equals(rounding=1e4),  # tolerance: two linear systems with ten unknowns and condition numbers below 100
    covers=("gaussian-prior-weight-decay", "gaussian-noise-mse"),
)
