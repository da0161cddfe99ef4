"""Along the gradient, batch norm divides the loss's curvature by the variance and subtracts a known term.

d = dL/dy is orthogonal to 1 and to the normalized values yhat, so yhat(y + t d) = (yhat + t d / s) / sqrt(1 + t^2 |d|^2
/ (m s^2)). Two derivatives at t = 0 give, with g and H the gradient and Hessian of L after the layer (z = c yhat) and s
the standard deviation,

    d^T (d^2 L / dy^2) d = (c / s)^2 d^T H d - c <g, yhat> |d|^2 / (m s^2)                               (1)
Reference: [santurkar2018how], Theorem 4.2.
"""

from functools import partial

import torch

from gnomon.lab import Claim, Premise, Source, equals


def problem(m, repeats, seed):
    """Returns values before the layer, its scale, and coefficients of L = sum z^2 / 2 + sin(z + a) after it."""
    torch.manual_seed(seed)
    shape = (repeats, m)
    return 2 * torch.randn(*shape, dtype=torch.float64), 1.5, torch.randn(*shape, dtype=torch.float64)


def predicted(m, repeats, seed):
    """Returns the curvature of the loss along the gradient, by the formula."""
    y, c, a = problem(m, repeats, seed)
    s = y.std(1, correction=0)[:, None]
    hat = (y - y.mean(1)[:, None]) / s
    z = c * hat
    g, h = z + torch.cos(z + a), 1 - torch.sin(z + a)
    d = c / s * (g - g.mean(1)[:, None] - hat * (g * hat).mean(1)[:, None])
    size = (d**2).sum(1)
    return (c / s[:, 0]) ** 2 * (h * d**2).sum(1) - c * (g * hat).sum(1) * size / (m * s[:, 0] ** 2)


def curvature(frozen, m, repeats, seed):
    """Returns the curvature along the gradient by autograd; ``frozen`` holds the standard deviation constant."""
    y, c, a = problem(m, repeats, seed)

    def loss(y, spread):
        z = c * (y - y.mean(1)[:, None]) / spread
        return (z**2 / 2 + torch.sin(z + a)).sum()

    def spread(y):
        return y.std(1, correction=0)[:, None]

    y.requires_grad_()
    d = torch.autograd.grad(loss(y, spread(y)), y)[0].detach()
    first = torch.autograd.grad(loss(y, spread(y.detach() if frozen else y)), y, create_graph=True)[0]
    return (torch.autograd.grad((first * d).sum(), y)[0] * d).sum(1)


observed = partial(curvature, frozen=False)  # The standard deviation is a function of the layer's inputs.
control = partial(curvature, frozen=True)  # Control: the standard deviation is held constant.

CLAIM = Claim(
    id="batchnorm-hessian-smoothing",
    question="What does batch normalization do to the curvature of the loss?",
    equation=r"d^T \nabla_y^2 L \, d = \frac{\gamma^2}{\sigma^2} d^T H d"
    r" - \frac{\gamma}{m \sigma^2} \langle g, \hat y \rangle \|d\|^2",
    axes=("random batch", "curvature along the gradient"),
    source=Source("theorem", "santurkar2018how", "Theorem 4.2"),
    premises=(
        Premise("the standard deviation is computed from the values"),
        Premise("a batch has three or more values: two become 1 and -1, with gradient zero", lambda m: m >= 3),
    ),
    parameters={"m": 16, "repeats": 20},
    grid={"m": (2, 4, 8, 16, 32, 64)},
    full={"m": 500, "repeats": 200},
    judge=equals(rounding=10_000),
    remark="The further term lowers the curvature only if <g, yhat> > 0, that is if smaller values lower the loss.",
)
