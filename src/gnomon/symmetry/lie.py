"""Computes Lie derivatives of each layer: how fast features change when a continuous transformation begins.

    invariance     |d/dt h(g_t x)| / |h(x)|              at t = 0                                                 (1)
    equivariance   |d/dt g_-t h(g_t x)| / |h(x)|         at t = 0, for layers whose features the flow moves        (2)

by central differences in float64. They need no choice of a strength, and the layer where (2) jumps breaks the symmetry.

Hypotheses: an action with a flow; features that are smooth along the flow except at single points, as ReLU features
are.
Reference: [gruver2023lie].

>>> import torch
>>> from torch import nn
>>> from gnomon.symmetry.action import translations
>>> x = torch.randn(4, 1, 7, 7, generator=torch.Generator().manual_seed(0))
>>> conv = nn.Conv2d(1, 2, 3, padding=1, padding_mode="circular")
>>> first, _ = lie_derivatives(nn.Sequential(conv), x, translations())
>>> first.equivariance < 1e-6 < first.invariance                              # it moves with the input
True
"""

from typing import Any

from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_module_is_callable, check_number
from gnomon.core.inputs.source import all_inputs
from gnomon.core.modules.copies import copy_module
from gnomon.core.results import Interval
from gnomon.symmetry.action import GroupAction
from gnomon.symmetry.errors import LayerError, layer_features, mean_error_interval

__all__ = ["lie_derivative", "lie_derivatives"]


@add_call_to_errors
def lie_derivative(module: nn.Module, data: Any, action: GroupAction, *, step: float = 1e-3) -> tuple[float, Interval]:
    """Returns the relative rate at which the network's output changes as a transformation begins, with an interval.

    See equation (1) of the module docstring.
    Hypotheses: an action with a flow; a module that also runs in float64.
    Reference: [gruver2023lie].
    Cost: three forward passes in float64.

    >>> import torch
    >>> from gnomon.symmetry.action import action
    >>> grow = action({"twice": lambda x: 2 * x}, flow=lambda x, t: x * (1 + t))
    >>> value, _ = lie_derivative(nn.Linear(3, 1, bias=False), torch.rand(4, 3), grow)
    >>> round(value, 6)                                                       # linear: it grows as the input does
    1.0
    """
    last = lie_derivatives(module, data, action, step=step)[-1]
    return last.invariance, last.invariance_interval


def lie_derivatives(module: nn.Module, x: Any, action: GroupAction, *, step: float = 1e-3) -> tuple[LayerError, ...]:
    """Returns the Lie derivatives of every layer: how fast features change as a transformation begins.

    See equations (1) and (2) of the module docstring.
    (2) is given for layers whose features are images of the size of the inputs, for flows of images.

    Hypotheses: as stated for the module.
    Reference: [gruver2023lie].
    Cost: three forward passes in float64, and three flows of the features of each layer.

    >>> import torch
    >>> from gnomon.symmetry.action import rotations
    >>> net = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    >>> [layer.name for layer in lie_derivatives(net, torch.rand(2, 1, 5, 5), rotations())]
    ['0', '1', 'output']
    """
    check_module_is_callable(module)
    step = check_number("step", step, above=0)
    flow = action.flow
    if flow is None:
        fix = "Use rotations(), translations(), scalings() or action(..., flow=...)"
        raise InputError(f"'{action.name}' has no flow", accepted="a continuous group", fix=fix)
    double = copy_module(module).double().eval()
    given = all_inputs(x, double)
    if not isinstance(given, Tensor):
        raise InputError("x is not one tensor", accepted="one tensor of inputs", fix="Pass a module with one input")
    given = given.double()  # A module without parameters has no dtype, so its inputs become float64.
    moved = [given if t == 0 else flow(given, t) for t in (0.0, step, -step)]
    if any(m.shape != given.shape for m in moved):
        found = f"the flow returns shape {tuple(moved[1].shape)} for {tuple(given.shape)}"
        raise InputError(found, accepted="a flow that keeps the shape", fix="Pass a flow that keeps the shape")
    here, ahead, behind = (layer_features(double, m) for m in moved)
    layers = []
    for name, h in here.items():
        size = h.flatten(1).norm(dim=1).clamp_min(1e-300)
        still = _speed(ahead[name], behind[name], step) / size  # (1)
        follows = action.features is not None and h.dim() == given.dim() and h.shape[2:] == given.shape[2:]
        back = _speed(flow(ahead[name], -step), flow(behind[name], step), step) / size if follows else None  # (2)
        pair = (None, None) if back is None else (float(back.mean()), mean_error_interval(back[None]))
        layers.append(LayerError(name, float(still.mean()), mean_error_interval(still[None]), *pair))
    return tuple(layers)


def _speed(ahead: Tensor, behind: Tensor, step: float) -> Tensor:
    return ((ahead - behind) / (2 * step)).flatten(1).norm(dim=1)
