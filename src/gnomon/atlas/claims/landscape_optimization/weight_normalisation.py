"""Weight normalization w = c v / |v| removes the gradient along v, so the length |v| can only grow.

With g = dL/dw for a loss L, learning rate lr and P = 1 - v v^T / |v|^2,

    dL/dc = <g, v> / |v|,    dL/dv = (c / |v|) P g,    |v - lr dL/dv|^2 = |v|^2 + lr^2 |dL/dv|^2         (1)
Reference: [salimans2016weight], Section 2.1.
"""

import torch
from torch import nn

from gnomon.lab import Claim, Premise, Source, equals

LEARNING_RATE = 0.1


def problem(n, d, seed):
    """Returns inputs, targets, and the weight's direction v and length c."""
    torch.manual_seed(seed)
    x, y = torch.randn(n, d, dtype=torch.float64), torch.randn(n, dtype=torch.float64)
    return x, y, torch.randn(d, dtype=torch.float64), 1.7


def predicted(n, d, seed):
    """Returns gradients in c and v, and |v|^2 after a step, by the formulas, for the mean squared error."""
    x, y, v, c = problem(n, d, seed)
    size = v.norm()
    g = 2 * x.T @ (x @ v * c / size - y) / n
    slope = c / size * (g - v * (v @ g) / size**2)
    return torch.cat([(g @ v / size)[None], slope, (size**2 + LEARNING_RATE**2 * slope @ slope)[None]])


def observed(n, d, seed):
    """Returns gradients in c and v, and |v|^2 after a step, for torch's weight_norm."""
    x, y, v, c = problem(n, d, seed)
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(d, 1, bias=False, dtype=torch.float64))
    scale, direction = layer.parametrizations.weight.original0, layer.parametrizations.weight.original1
    with torch.no_grad():
        scale.fill_(c), direction.copy_(v[None])
    (layer(x)[:, 0] - y).square().mean().backward()
    after = (direction.detach() - LEARNING_RATE * direction.grad).square().sum()
    return torch.cat([scale.grad[0], direction.grad[0], after[None]])


def control(n, d, seed):
    """Returns gradients and |v|^2 after a step for w = c v, without the division by |v|."""
    x, y, v, c = problem(n, d, seed)
    v.requires_grad_()
    scale = torch.tensor(c, dtype=torch.float64, requires_grad=True)
    (x @ v * scale - y).square().mean().backward()
    return torch.cat([scale.grad[None], v.grad, (v.detach() - LEARNING_RATE * v.grad).square().sum()[None]])


CLAIM = Claim(
    id="weight-normalisation",
    question="What does weight normalization do to gradients?",
    equation=r"\partial L / \partial v = \frac{\gamma}{\|v\|} (I - v v^T / \|v\|^2) \, \partial L / \partial w",
    axes=("derivative by c, derivatives by v, then |v|^2 after a step", "derivative; squared norm"),
    source=Source("theorem", "salimans2016weight", "Section 2.1"),
    premises=(Premise("v enters only through its direction"),),
    parameters={"n": 30, "d": 6},
    full={"n": 1000, "d": 100},
    judge=equals(rounding=10_000),
)
