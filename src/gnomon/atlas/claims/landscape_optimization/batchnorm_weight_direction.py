"""Before batch normalization, only the direction of a unit's weights matters, not their length.

w^T (x - mean) / sqrt(w^T S w), with S the covariance of x, is unchanged by w -> c w. So the loss L satisfies

    L(c w) = L(w),    <grad L(w), w> = 0,    grad L(c w) = grad L(w) / c                                 (1)
Reference: [laarhoven2017regularization], Section 2.
"""

from functools import partial

import torch

from gnomon.atlas.check.layers import check_scale_invariance
from gnomon.lab import Claim, Premise, Source, equals

SCALE_FACTORS = (0.1, 1.0, 10.0)


def problem(n, d, seed):
    """Returns correlated inputs, targets, and the weights of a linear unit."""
    torch.manual_seed(seed)
    x = torch.randn(n, d, dtype=torch.float64) @ torch.randn(d, d, dtype=torch.float64) + 1
    return x, torch.randn(n, dtype=torch.float64), torch.randn(d, dtype=torch.float64)


def predicted(n, d, seed):
    """Returns the loss L, <grad L, w> = 0, and c grad L at weights c w, for each factor c, with gradients by hand."""
    x, y, w = problem(n, d, seed)
    centered = x - x.mean(0)
    s = centered.T @ centered / n
    size = (w @ s @ w).sqrt()
    r = torch.tanh(centered @ w / size) - y
    g = 2 * r * (1 - torch.tanh(centered @ w / size) ** 2) / n
    slope = (centered.T @ g - s @ w * (w @ centered.T @ g) / size**2) / size
    return torch.cat([torch.cat([r.square().mean()[None], torch.zeros(1).double(), slope]) for _ in SCALE_FACTORS])


def loss_and_gradient(normalize, n, d, seed):
    """Returns the loss L, <grad L, w>, and c grad L at weights c w, for each factor c, by autograd."""
    x, y, w = problem(n, d, seed)
    rows = []
    for c in SCALE_FACTORS:
        v = (c * w).requires_grad_()
        loss = (torch.tanh(normalize((x @ v)[:, None])[:, 0]) - y).square().mean()
        g = torch.autograd.grad(loss, v)[0]
        rows += [loss.detach()[None], (g @ v).detach()[None], c * g]
    return torch.cat(rows)


# The test puts torch's BatchNorm1d between the linear map and the tanh.
observed = partial(loss_and_gradient, normalize=torch.nn.BatchNorm1d(1, eps=1e-30, dtype=torch.float64))
control = partial(loss_and_gradient, normalize=torch.nn.Identity())  # Without it.

CLAIM = Claim(
    id="batchnorm-weight-direction",
    question="Does the norm of a weight vector matter before batch normalization?",
    equation=r"L(c w) = L(w), \quad \langle \nabla L(w), w \rangle = 0, \quad \nabla L(c w) = \nabla L(w) / c",
    axes=("loss, <gradient, w>, c x gradient, for three factors c", "loss; inner product; gradient"),
    source=Source("theorem", "laarhoven2017regularization", "Section 2"),
    premises=(Premise("the outputs are normalized over the batch"),),
    parameters={"n": 30, "d": 5},
    full={"n": 1000, "d": 50},
    judge=equals(rounding=100_000),  # tolerance: sums of n terms divided by standard deviations lose digits
    check=check_scale_invariance,
    remark="Lecture notes write S = E[x x^T], which is the covariance only for centered inputs.",
)
