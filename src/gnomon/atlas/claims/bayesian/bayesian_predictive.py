"""For a linear model, outputs at posterior samples have the mean and variance of the exact Bayesian prediction.

    f(x) = integral p(w | S) f(w; x) dw,    var f(x) = integral p(w | S) f(w; x)^2 dw - f(x)^2     (1)

w are the weights, S the data, f(w; x) the output at x.
"""

import torch
from torch import nn

from gnomon.bayes import module_posterior, sample_posterior
from gnomon.data import sphere_points
from gnomon.lab import Claim, Premise, Source, mean_equals

NOISE_STD = 0.5


def problem(n, seed):
    """Returns points on a sphere, noisy targets, and three new points."""
    generator = torch.Generator().manual_seed(seed)
    x, new = sphere_points(n, 3, seed=seed), sphere_points(3, 3, seed=seed + 1)
    return x, x[:, 0] + NOISE_STD * torch.randn(n, generator=generator, dtype=torch.float64), new


def predicted(n, seed):
    """Returns the predictive mean and mean square at each new point, in closed form for a linear model."""
    x, y, new = problem(n, seed)
    precision = x.T @ x / NOISE_STD**2 + torch.eye(3, dtype=torch.float64)
    mean = new @ torch.linalg.solve(precision, x.T @ y) / NOISE_STD**2
    return torch.cat([mean, mean**2 + (new * torch.linalg.solve(precision, new.T).T).sum(1)])


def moments(weights, new):
    """Returns the mean and the mean square of the outputs at the new points, for each Markov chain."""
    f = weights @ new.T
    return torch.cat([f.mean(1), f.square().mean(1)], 1)


def observed(n, draws, seed):
    """Returns mean and mean square of the outputs, with weights from the posterior by Hamiltonian Monte Carlo."""
    x, y, new = problem(n, seed)
    posterior = module_posterior(nn.Linear(3, 1, bias=False).double(), (x, y), noise=NOISE_STD)
    result = sample_posterior(posterior, torch.zeros(3), chains=16, draws=draws, warmup=200, seed=seed)
    return moments(result.values, new)


def control(n, draws, seed):
    """Returns mean and mean square of the outputs, with weights from the prior instead of the posterior."""
    generator = torch.Generator().manual_seed(seed)
    weights = torch.randn(16, draws, 3, generator=generator, dtype=torch.float64)
    return moments(weights, problem(n, seed)[2])


CLAIM = Claim(
    id="bayesian-predictive",
    question="How does a Bayesian network make predictions?",
    equation=r"f(x) = \int p(\theta | S)\, f(\theta; x)\, d\theta",
    axes=("new point (mean, then mean square)", "output; squared output"),
    source=Source("derived"),
    premises=(
        Premise("the weights are drawn from the posterior"),
        Premise("the model is linear with Gaussian prior and noise"),
    ),
    parameters={"n": 12, "draws": 60},
    full={"draws": 1000},
    judge=mean_equals(confidence=0.999, resolution=0.1),
)
