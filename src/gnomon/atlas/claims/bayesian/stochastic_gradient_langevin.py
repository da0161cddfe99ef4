"""Langevin sampling without rejection gives too large a variance: 1 / (h (1 - e h / 4)) for a Gaussian of precision h.

    var = 1 / (h (1 - e h / 4)) = 1 / h + e / 4 + O(e^2)   for a Gaussian of precision h     (1)

The target is a Gaussian with precision h, and e is the step size.
"""

from functools import partial

import torch

from gnomon.bayes import Langevin, StochasticGradientSampler, module_posterior, sample_posterior
from gnomon.lab import Claim, Premise, Source, mean_equals


def predicted(step, n):
    """Returns the predicted variance of the samples, for the posterior of a mean of n values (precision n + 1)."""
    h = n + 1
    return 1 / (h * (1 - step * h / 4))


def variances(method, step, n, chains, draws, seed):
    """Returns the variance of each chain around the exact posterior mean, for targets that are 1 and 3 in turn."""
    x = torch.ones(n, 1).double()
    y = torch.tensor([1.0, 3.0] * (n // 2)).double()
    net = torch.nn.Linear(1, 1, bias=False).double()
    posterior = module_posterior(net, (x, y))
    mean = 2 * n / (n + 1)
    start = torch.full((chains, 1), mean)
    run = sample_posterior(posterior, start, method=method(step), chains=chains, draws=draws, warmup=30, seed=seed)
    return (run.values - mean).square().mean((1, 2))


observed = partial(variances, method=lambda step: Langevin(step, None))  # Every step uses gradients of all data.
control = partial(variances, method=partial(StochasticGradientSampler, batch=1))  # Control: gradients of one example.

CLAIM = Claim(
    id="stochastic-gradient-langevin",
    question="How wrong is Langevin sampling without a rejection step?",
    equation=r"\mathrm{var} = \frac{1}{h(1 - \eta h/4)}",
    axes=("chain", "variance of the samples"),
    source=Source("derived"),
    premises=(Premise("full batches: the gradient has no noise of its own"),),
    parameters={"step": 0.1, "n": 8, "chains": 60, "draws": 200},
    full={"draws": 3000},
    judge=mean_equals(confidence=0.999, resolution=0.2),
)
