"""Measures which share of a gradient batch norm removes, in addition to rescaling the gradient.

For a batch of m outputs y of a layer, normalized z = b + c yhat, yhat = (y - mean) / s, and the loss L of z,

    |dL/dy|^2 = (c / s)^2 (|dL/dz|^2 - (1/m) <1, dL/dz>^2 - (1/m) <dL/dz, yhat>^2)                                (1)

Hypotheses: training mode; up to the eps of the layer over the variance.
Reference: [santurkar2018how], Theorem 4.1; [ioffe2015batch].

>>> NormalizationSmoothing({"1": 0.6}, {"1": 3.0}, 0.0).verdict
"Batch norm reduces the squared gradient of a layer by up to 40% ('1')."
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnomon.core.errors import InputError, add_call_to_errors
from gnomon.core.inputs.checks import check_weights
from gnomon.core.modules.copies import copy_module
from gnomon.core.modules.preserve import preserve
from gnomon.core.results import Axis, Bars, Plot, Result
from gnomon.training.evaluate import Loss, Objective

__all__ = ["MAX_EXAMPLES", "NormalizationSmoothing", "batch_norm_layers", "normalization_smoothing"]

NORMS = nn.modules.batchnorm._BatchNorm
MAX_EXAMPLES = 256
"""Maximum number of examples in the normalized batch."""


@dataclass(frozen=True, slots=True)
class NormalizationSmoothing(Result):
    """The share of the squared gradient that each batch norm layer keeps (1 for a plain rescaling), and the share's
    error.
    """

    factors: dict[str, float]
    scales: dict[str, float]
    error: float

    @property
    def verdict(self) -> str:
        """A sentence with the largest share of the squared gradient that a batch norm layer removes beyond
        rescaling.
        """
        name = min(self.factors, key=self.factors.__getitem__)
        return f"Batch norm reduces the squared gradient of a layer by up to {1 - self.factors[name]:.0%} ('{name}')."

    def plots(self) -> tuple[Plot, ...]:
        """Plots the share of the squared gradient that each batch norm layer keeps."""
        bars = Bars("factor", tuple(self.factors), tuple(self.factors.values()))
        return (
            Plot(
                "Gradient that remains after batch norm",
                (bars,),
                Axis("share of the rescaled squared gradient"),
                caption=self.verdict,
            ),
        )


@add_call_to_errors
def normalization_smoothing(module: nn.Module, data: Any, *, loss: Loss | None = None) -> NormalizationSmoothing:
    """Measures how much of the gradient each batch norm layer removes beyond rescaling it, on one batch.

    See equation (1) of the module docstring.
    Hypotheses: see the module; at most 256 examples, as one batch. Reference: [santurkar2018how].
    Cost: a forward and a backward pass in training mode, on a copy.

    >>> net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1))
    >>> result = normalization_smoothing(net, (torch.randn(32, 2), torch.randn(32)))
    >>> 0 <= result.factors["1"] <= 1 and result.error < 1e-3
    True
    """
    check_weights(module)
    model = copy_module(module).requires_grad_()
    parts = batch_norm_layers(model)
    kept: dict[str, tuple[Tensor, Tensor]] = {}

    def keep(name: str) -> Any:
        def hook(_: nn.Module, args: Any, out: Tensor) -> None:
            kept[name] = (args[0], out)

        return hook

    for name, part in parts.items():
        part.register_forward_pre_hook(_with_gradient)
        part.register_forward_hook(keep(name))
    with preserve(model, mode="train"):
        objective = Objective.of(data, model, loss)
        batch = objective.data.first(MAX_EXAMPLES)
        value = objective.value(model, *objective.of_batch(batch))
        tensors = [t for pair in kept.values() for t in pair]
        grads = torch.autograd.grad(value, tensors, allow_unused=True, materialize_grads=True)
    factors, scales, error = {}, {}, 0.0
    for i, name in enumerate(kept):
        told = _smoothing(parts[name], kept[name][0].detach(), grads[2 * i], grads[2 * i + 1])
        factors[name], scales[name], error = told[0], told[1], max(error, told[2])
    return NormalizationSmoothing(factors, scales, error)


def batch_norm_layers(model: nn.Module) -> dict[str, Any]:
    """Returns the batch norm layers of a module by name; raises an error if there are none.

    >>> list(batch_norm_layers(nn.Sequential(nn.BatchNorm1d(1))))
    ['0']
    """
    found = {name: part for name, part in model.named_modules() if isinstance(part, NORMS)}
    if not found:
        raise InputError(
            "the module has no batch norm layer", accepted="at least one", fix="Pass a network with batch norm"
        )
    return found


def _with_gradient(_: nn.Module, args: Any) -> Any:
    """Makes the input of a layer require a gradient, even if the layer's input is the data."""
    return args if args[0].requires_grad else (args[0].detach().requires_grad_(), *args[1:])


def _smoothing(part: Any, y: Tensor, into: Tensor, out: Tensor) -> tuple[float, float, float]:
    """Returns the share of the squared gradient that a batch norm layer keeps, its mean scale, and the
    share's error.
    """
    y, into, out = (t.movedim(1, 0).flatten(1).double() for t in (y, into, out))
    m = y.shape[1]
    s = (y.var(1, correction=0) + part.eps).sqrt()
    c = part.weight.detach().double() if part.affine else torch.ones_like(s)
    yhat = (y - y.mean(1, keepdim=True)) / s[:, None]
    full = (c / s).square() * out.square().sum(1)
    left = (c / s).square() * (out.square().sum(1) - out.sum(1) ** 2 / m - (out * yhat).sum(1) ** 2 / m)  # (1)
    measured = into.square().sum(1)
    error = float((measured - left).abs().max() / full.max().clamp_min(1e-300))
    return float(measured.sum() / full.sum().clamp_min(1e-300)), float((c / s).mean()), error
