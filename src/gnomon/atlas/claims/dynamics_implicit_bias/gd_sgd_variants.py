"""The variance of a mini-batch gradient is inversely proportional to the batch size.

For B examples drawn with replacement, the mean g_B of their gradients g_i has mean g and

    E |g_B - g|^2 = tr(S) / B,    S the covariance of the g_i over the data                                   (1)

If gradients are summed instead of averaged, the same step needs a rate B times smaller.
"""

from functools import partial

import numpy as np
import torch

from gnomon.lab import Claim, Premise, Source, mean_equals


def problem(n, d, seed):
    """Returns examples and targets of a regression problem, and weights that are not its minimum."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n), rng.normal(size=d)


def predicted(n, d, batches, seed):
    """Returns the trace of the gradients' covariance over the examples, once for each batch size."""
    x, y, w = problem(n, d, seed)
    g = (x @ w - y)[:, None] * x
    return [((g - g.mean(0)) ** 2).sum(1).mean()] * len(batches)


def noise(n, d, batches, draws, seed, convention):
    """Returns B |g_B - g|^2, for batch size B, batch gradient g_B and full gradient g, for random batches."""
    x, y, w = (torch.from_numpy(v) for v in problem(n, d, seed))
    columns = []
    for size in batches:
        copies = w.expand(draws, d).clone().requires_grad_()
        picks = torch.randint(n, (draws, size))
        losses = 0.5 * ((x[picks] @ copies[:, :, None])[..., 0] - y[picks]) ** 2
        batch = torch.autograd.grad(convention(losses).sum(), copies)[0]
        whole = torch.autograd.grad(convention(0.5 * (copies[:1] @ x.T - y) ** 2).sum(), copies)[0][:1]
        columns.append(size * ((batch - whole) ** 2).sum(1))
    return torch.stack(columns, 1)


observed = partial(noise, convention=lambda losses: losses.mean(1))  # The test averages the loss over the batch.
control = partial(noise, convention=lambda losses: losses.sum(1))  # Control: the loss is summed over the batch.

CLAIM = Claim(
    id="gd-sgd-variants",
    question="How noisy is the gradient of a mini-batch?",
    equation=r"E \|g_B - g\|^2 = \mathrm{tr}(\Sigma) / B",
    axes=("batch size B", "B x mean squared error of the batch gradient", "batches"),
    source=Source("derived", "mccandlish2018empirical"),
    premises=(Premise("the gradients of a batch are averaged"), Premise("examples are drawn with replacement")),
    parameters={"n": 100, "d": 5, "batches": (2, 8, 32), "draws": 4000},
    full={"n": 1000, "d": 20, "batches": (1, 4, 16, 64), "draws": 20_000},
    judge=mean_equals(confidence=0.9999, resolution=0.2),
    remark="Code that sums over the batch, as some notes do, must divide the learning rate by the batch size.",
)
