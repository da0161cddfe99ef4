"""Builds ReLU networks that compute given piecewise linear functions exactly."""

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors

__all__ = ["pwl_network"]


@add_call_to_errors
def pwl_network(knots: Tensor, values: Tensor) -> nn.Sequential:
    """Creates the network with one hidden ReLU layer that interpolates given points linearly.

        g(x) = v_0 + s_0 ((x - x_0)_+ - (x_0 - x)_+) + sum_{0 < i < m} (s_i - s_{i-1}) (x - x_i)_+          (1)

    with s_i the slope between x_i and x_{i+1}; beyond the first and the last knot it goes on straight. It has as many
    hidden units as knots.
    Hypotheses: at least two knots (m + 1,), rising; values (m + 1,) or (m + 1, outputs). In float64.
    Reference: [arora2018understanding].

    >>> net = pwl_network(torch.tensor([0.0, 1.0, 3.0]), torch.tensor([0.0, 2.0, -2.0]))
    >>> net(torch.tensor([[-1.0], [0.5], [2.0], [4.0]], dtype=torch.float64))[:, 0].tolist()
    [-2.0, 1.0, 0.0, -4.0]
    """
    x, v = torch.as_tensor(knots).detach().double(), torch.as_tensor(values).detach().double()
    if x.dim() != 1 or len(x) < 2 or not bool((x.diff() > 0).all()):
        raise InputError(
            f"knots are {x.tolist()}", accepted="at least two increasing numbers", fix="Sort them and remove duplicates"
        )
    v = v.reshape(len(v), -1)
    if len(v) != len(x):
        found = f"there are {len(x)} knots and {len(v)} values"
        raise InputError(found, accepted="a value for each knot", fix="Pass one value per knot")
    slopes = v.diff(dim=0) / x.diff().unsqueeze(1)
    hidden, out = nn.Linear(1, len(x), dtype=torch.float64), nn.Linear(len(x), v.shape[1], dtype=torch.float64)
    with torch.no_grad():
        hidden.weight.fill_(1.0)
        hidden.weight[-1] = -1.0
        hidden.bias[:-1], hidden.bias[-1] = -x[:-1], x[0]
        out.weight[:, 0], out.weight[:, -1] = slopes[0], -slopes[0]
        out.weight[:, 1:-1] = slopes.diff(dim=0).T
        out.bias.copy_(v[0])  # (1)
    return nn.Sequential(hidden, nn.ReLU(), out)
