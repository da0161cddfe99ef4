"""Attributions from input gradients: integrated gradients and SmoothGrad.

    IG_i = (x_i - b_i) int_0^1 d f / d x_i (b + s (x - b)) ds,    sum_i IG_i = f(x) - f(b)                       (1)
    SG_i = E d f / d x_i (x + e),    e ~ N(0, sigma^2)                                                           (2)

The integral uses Gauss-Legendre quadrature, and its completeness error is reported.
Hypotheses: f is differentiable along the path almost everywhere.
Reference: [sundararajan2017axiomatic], (1); [smilkov2017smoothgrad], (2).
Cost: ``path_points`` or ``samples`` forward and backward passes.

>>> import torch
>>> net = torch.nn.Linear(2, 1)
>>> found = integrated_gradients(net, torch.eye(2))
>>> bool(torch.allclose(found.values, net.weight * torch.eye(2), atol=1e-6))         # linear: weight times input
True
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from gnomon.attribution.layers import one_tensor
from gnomon.attribution.record import Attribution
from gnomon.attribution.targets import freeze_parameters, target_of_each_example, target_scores
from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import as_numbers, check_integer, check_number, check_seed
from gnomon.core.modules.preserve import preserve

__all__ = ["gradient", "integrated_gradients", "smooth_grad"]

MAX_NUMBERS_PER_PASS = 2**17
"""Maximum number of input values in one pass: larger passes do not fit into the processor's caches."""
MIN_EXAMPLES_PER_PASS = 16
"""Minimum number of examples in one pass."""


@add_call_to_errors
def integrated_gradients(
    module: nn.Module, data: Any, target: Any = None, *, baseline: Any = 0.0, path_points: int = 50
) -> Attribution:
    """Computes integrated gradients: the mean input gradient on the path from a baseline, times the input change.

    See equation (1) of the module docstring.
    Hypotheses: see the module.
    Reference: [sundararajan2017axiomatic].
    Cost: ``path_points`` forward and backward passes.

    >>> net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    >>> bool(integrated_gradients(net, torch.randn(5, 3)).completeness.max() < 0.01)
    True
    """
    inputs = one_tensor(data, module)
    nodes, weights = np.polynomial.legendre.leggauss(check_integer("path_points", path_points))
    nodes, weights = (nodes + 1) / 2, weights / 2
    start = _baseline(baseline, inputs)
    with preserve(module), freeze_parameters(module):
        which = target_of_each_example(module, inputs, target)
        total = torch.zeros_like(inputs)
        path = inputs - start
        together = max(1, rows_at_once(inputs) // len(inputs))
        for part in np.array_split(np.arange(len(nodes)), -(-len(nodes) // together)):
            s = inputs.new_tensor(nodes[part]).reshape(-1, *(1,) * inputs.dim())
            points = (start + s * path).reshape(-1, *inputs.shape[1:])
            slope = _slope(module, points, which.repeat(len(part))).reshape(len(part), *inputs.shape)
            total += (slope * inputs.new_tensor(weights[part]).reshape(s.shape)).sum(0)
        values = path * total  # (1)
        with torch.no_grad():
            ends = [target_scores(module, point, which) for point in (inputs, start.expand_as(inputs))]
    rise = ends[0] - ends[1]
    missed = (values.flatten(1).sum(1) - rise).abs() / values.flatten(1).abs().sum(1).clamp(min=1e-12)
    return Attribution(values, which, "integrated gradients", missed, inputs)


@add_call_to_errors
def smooth_grad(
    module: nn.Module, x: Any, target: Any = None, *, sigma: float = 0.15, samples: int = 25, seed: int = 0
) -> Attribution:
    """Computes SmoothGrad, the mean input gradient over noisy copies of each example.

    See equation (2) of the module docstring.
    Hypotheses: see the module.
    Reference: [smilkov2017smoothgrad].
    Cost: ``samples`` forward and backward passes.

    >>> net = nn.Linear(2, 1)
    >>> bool(torch.allclose(smooth_grad(net, torch.eye(2)).values, net.weight.expand(2, 2)))
    True
    """
    inputs = one_tensor(x, module)
    size = check_number("sigma", sigma, above=0) * float(inputs.max() - inputs.min())
    draw = torch.Generator().manual_seed(check_seed(seed))
    count = check_integer("samples", samples)
    with preserve(module), freeze_parameters(module):
        which = target_of_each_example(module, inputs, target)
        total = torch.zeros_like(inputs)
        together = max(1, rows_at_once(inputs) // len(inputs))
        for first in range(0, count, together):
            many = min(together, count - first)
            noise = torch.randn((many, *inputs.shape), generator=draw).to(inputs)
            points = (inputs + size * noise).flatten(0, 1)
            total += _slope(module, points, which.repeat(many)).reshape(noise.shape).sum(0)
    return Attribution(total / count, which, "SmoothGrad", inputs=inputs)  # (2)


@add_call_to_errors
def gradient(module: nn.Module, data: Any, target: Any = None) -> Attribution:
    """Computes the gradient of the target output with respect to each input feature.

    Cost: one forward and one backward pass.

    >>> net = nn.Linear(2, 1)
    >>> bool(torch.equal(gradient(net, torch.eye(2)).values, net.weight.expand(2, 2)))
    True
    """
    inputs = one_tensor(data, module)
    with preserve(module), freeze_parameters(module):
        which = target_of_each_example(module, inputs, target)
        return Attribution(_slope(module, inputs, which), which, "gradient", inputs=inputs)


Method = Callable[[nn.Module, Tensor, Tensor], Attribution]
"""An attribution method: module, inputs, targets."""


def _slope(module: nn.Module, points: Tensor, which: Tensor) -> Tensor:
    """Returns the gradient of each example's target output with respect to the input, computed in batches."""
    parts, rows = [], rows_at_once(points)
    for piece, goal in zip(points.split(rows), which.split(rows), strict=True):
        z = piece.detach().requires_grad_()
        made = target_scores(module, z, goal).sum()
        slope = torch.autograd.grad(made, z, allow_unused=True)[0] if made.requires_grad else None
        if slope is None:
            found = "the output does not depend on x in a differentiable way"
            raise InputError(found, accepted="a differentiable module", fix="Use occlusion(module, x) instead")
        parts.append(slope)
    return torch.cat(parts) if len(parts) > 1 else parts[0]


def rows_at_once(inputs: Tensor) -> int:
    """Returns the largest number of examples that one forward pass should take, to limit memory."""
    return max(MIN_EXAMPLES_PER_PASS, MAX_NUMBERS_PER_PASS // max(1, inputs[0].numel()))


def _baseline(baseline: Any, inputs: Tensor) -> Tensor:
    given = as_numbers([baseline] if isinstance(baseline, int | float) else baseline, "baseline").to(inputs)
    try:
        return (
            given.expand(inputs.shape)
            if given.dim() == inputs.dim() or given.numel() == 1
            else given[None].expand(inputs.shape)
        )
    except RuntimeError as reason:
        found = f"the baseline has shape {tuple(given.shape)} and x {tuple(inputs.shape)}"
        raise InputError(found, accepted="a baseline of the shape of x", fix="Pass a number or one example") from reason
